// AudioContexts that are warm before they are needed: one a sample rate, so that the browser's own resampler does the
// conversion and no model is heard at another one's pitch.
import { BufferPort } from './buffers.js';

const MODULE = new URL('./worklet.js', import.meta.url).href;
const IDLE = 120_000; // milliseconds of silence after which the sound card may sleep
const MOST = 3; // contexts kept; browsers allow few
const outputs = new Map();
let lines = 0;
let wantedRate = 24000;
let sleeper = 0;

class Output {
  constructor(rate) {
    this.context = new AudioContext({ sampleRate: rate, latencyHint: 'interactive' });
    this.listeners = new Map();
    this.port = null;
    this.pending = []; // messages sent before the worklet stood
    this.ready = this.#build();
  }

  async #build() {
    const { context } = this;
    // A test may listen in: `readyvoice.tap(context)` gives the node to play through.
    const target = (await globalThis.readyvoice?.tap?.(context)) ?? context.destination;
    const receive = (event) => this.listeners.get(event.line)?.(event);
    try {
      await context.audioWorklet.addModule(MODULE);
      const node = new AudioWorkletNode(context, 'readyvoice-queue', { numberOfInputs: 0, outputChannelCount: [1] });
      node.connect(target);
      node.port.onmessage = ({ data }) => receive(data);
      this.port = node.port;
      this.node = node; // a node nobody holds may be collected
    } catch {
      this.port = new BufferPort(context, target);
      this.port.onevent = receive;
    }
    for (const [message, transfer] of this.pending.splice(0)) this.port.postMessage(message, transfer);
  }

  send(message, transfer = []) {
    if (this.port) this.port.postMessage(message, transfer);
    else this.pending.push([message, transfer]);
  }

  // Opens a line; `listen` gets its events with `at`, the performance.now() time at which they are audible.
  line(wantedSeconds, listen) {
    const id = ++lines;
    const { context } = this;
    this.listeners.set(id, (event) => {
      const latency = context.outputLatency || context.baseLatency || 0;
      const at = performance.now() + (event.time - context.currentTime + latency) * 1000;
      if (event.event === 'ended') this.listeners.delete(id), rest();
      listen({ ...event, at, rate: context.sampleRate });
    });
    this.send({ open: id, wanted: Math.round(wantedSeconds * context.sampleRate) });
    return {
      push: (samples) => this.send({ data: id, samples }, [samples.buffer]),
      end: () => this.send({ end: id }),
      stop: () => this.send({ stop: id }),
    };
  }
}

// The output for `rate` Hz, running or about to. Call it from a user's gesture, or browsers keep it mute.
export function output(rate) {
  wantedRate = rate;
  let found = outputs.get(rate);
  if (!found || found.context.state === 'closed') {
    for (const [old, other] of outputs) {
      if (outputs.size < MOST) break;
      if (!other.listeners.size) outputs.delete(old), other.context.close();
    }
    found = new Output(rate);
  }
  outputs.delete(rate);
  outputs.set(rate, found); // newest last
  if (found.context.state !== 'running') found.context.resume().catch(() => {});
  rest();
  return found;
}

// From now on the first gesture anywhere on the page wakes the output of the model in use.
export function warm(rate) {
  if (!rate) return; // a model that isn't loaded yet
  wantedRate = rate;
  if (navigator.userActivation?.hasBeenActive) output(rate);
}

function rest() {
  clearTimeout(sleeper);
  sleeper = setTimeout(() => {
    for (const { context, listeners } of outputs.values()) if (!listeners.size) context.suspend().catch(() => {});
  }, IDLE);
}

if ('audioSession' in navigator) navigator.audioSession.type = 'playback'; // iOS: sound though the ringer is off
fetch(MODULE).catch(() => {}); // into the browser's cache
for (const gesture of ['mousedown', 'touchend', 'keydown', 'click']) {
  addEventListener(gesture, () => navigator.userActivation?.isActive !== false && output(wantedRate), {
    capture: true, passive: true,
  });
}
