// What was received, as a WAV file made in the browser: at once, private, and without a copy on the server's disk.

const PACK = 1 << 20; // bytes gathered before they move into a Blob, which the browser may keep on disk

export class Clip {
  // comment: what the file says of itself.
  constructor(rate, comment = '') {
    this.rate = rate;
    this.comment = comment;
    this.samples = 0;
    this.packed = [];
    this.loose = [];
    this.looseBytes = 0;
  }

  // Keeps a copy: the block itself goes to the audio thread.
  add(block) {
    this.samples += block.length;
    this.loose.push(block.slice());
    this.looseBytes += block.byteLength;
    if (this.looseBytes > PACK) {
      this.packed.push(new Blob(this.loose));
      this.loose = [];
      this.looseBytes = 0;
    }
  }

  get seconds() {
    return this.samples / this.rate;
  }

  wav() {
    const info = infoChunk(this.comment);
    const head = wavHeader(this.samples, this.rate, info.byteLength);
    return new Blob([head, ...this.packed, ...this.loose, info], { type: 'audio/wav' });
  }
}

// RIFF's own place for a comment, after the samples.
function infoChunk(comment) {
  if (!comment) return new ArrayBuffer(0);
  const text = new TextEncoder().encode(`${comment}\0`);
  const size = text.length + (text.length % 2);
  const bytes = new Uint8Array(20 + size);
  const view = new DataView(bytes.buffer);
  bytes.set(new TextEncoder().encode('LIST'), 0);
  view.setUint32(4, 12 + size, true);
  bytes.set(new TextEncoder().encode('INFOICMT'), 8);
  view.setUint32(16, text.length, true);
  bytes.set(text, 20);
  return bytes.buffer;
}

function wavHeader(samples, rate, rest) {
  const view = new DataView(new ArrayBuffer(44));
  const text = (at, word) => [...word].forEach((letter, i) => view.setUint8(at + i, letter.charCodeAt(0)));
  text(0, 'RIFF');
  view.setUint32(4, 36 + samples * 2 + rest, true);
  text(8, 'WAVEfmt ');
  view.setUint32(16, 16, true); // size of this part
  view.setUint16(20, 1, true); // PCM
  view.setUint16(22, 1, true); // mono
  view.setUint32(24, rate, true);
  view.setUint32(28, rate * 2, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  text(36, 'data');
  view.setUint32(40, samples * 2, true);
  return view.buffer;
}

// "kokoro af_heart The tide was out.wav": the voice and the first words, nothing a file system minds.
export function fileName(model, voice, text) {
  const words = text.normalize('NFC').replace(/[^\p{L}\p{N}]+/gu, ' ').trim();
  const start = [...words].slice(0, 40).join('');
  const whole = [...words].length > 40 && start.includes(' ') ? start.slice(0, start.lastIndexOf(' ')) : start;
  return `${[model, voice, whole].filter(Boolean).join(' ').replace(/[^\p{L}\p{M}\p{N} _.+()-]+/gu, '')}.wav`;
}
