// The wire: one POST, its answer as Int16Array blocks, nothing else.
import { api } from '../base/api.js';

const littleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

// Yields {rate, segments, comment} once, the last for the file that is made of it, then Int16Arrays. Throws what `api` throws, AbortError when `signal` fires, and
// TypeError when the connection breaks.
export async function* speech(request, signal) {
  const answer = await api('api/stream', {
    method: 'POST', body: JSON.stringify(request), headers: { 'Content-Type': 'application/json' }, signal,
  });
  const rate = Number(answer.headers.get('X-Sample-Rate'));
  if (!rate) throw new TypeError('the stream does not say its sample rate');
  const comment = decodeURIComponent(answer.headers.get('X-Comment') ?? '');
  yield { rate, segments: Number(answer.headers.get('X-Segments')) || 0, comment };
  const reader = answer.body.getReader();
  let odd = null; // the first byte of a sample whose second one is still under way
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const bytes = new Uint8Array(((odd === null ? 0 : 1) + value.length) & ~1);
    let source = value;
    let at = 0;
    if (odd !== null && bytes.length) bytes[at++] = odd, (odd = null);
    if (at + source.length > bytes.length) {
      odd = source[source.length - 1];
      source = source.subarray(0, source.length - 1);
    }
    bytes.set(source, at);
    if (!bytes.length) continue;
    if (!littleEndian) for (let i = 0; i < bytes.length; i += 2) [bytes[i], bytes[i + 1]] = [bytes[i + 1], bytes[i]];
    yield new Int16Array(bytes.buffer);
  }
}
