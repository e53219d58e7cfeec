// Plays queues of signed 16-bit samples on the audio thread. One processor lives as long as its AudioContext; every
// answer is one Line in it, so nothing has to be built between a click and its sound.
//
// In:  {open: id, wanted}   a new line that starts once `wanted` samples are there (or the line has ended)
//      {data: id, samples}  Int16Array, transferred
//      {end: id}            nothing more will come
//      {stop: id}           fall silent now and forget the rest
// Out: {line: id, event, time, played, ahead}; time is context time; events: started, heard, starved, resumed,
//      progress, ended.

const FADE = Math.round(0.004 * sampleRate); // long enough against clicks, too short to hear
const AUDIBLE = 0.003; // -50 dB: models often begin with near-silence, which nobody hears
const REPORT_EVERY = Math.round(0.1 * sampleRate);
const REFILL = [0.3, 0.6, 1.2, 2.0]; // seconds gathered after the first, second... drought, so that it doesn't stutter

class Line {
  constructor(id, wanted, tell) {
    Object.assign(this, { id, wanted, tell });
    this.blocks = [];
    this.block = 0; // first block not played out
    this.offset = 0; // in that block
    this.ahead = 0; // samples waiting
    this.played = 0;
    this.reported = 0;
    this.droughts = 0;
    this.gain = 0;
    this.flowing = this.begun = this.heard = this.closed = this.stopped = this.over = false;
  }

  push(samples) {
    if (this.stopped || !samples.length) return;
    this.blocks.push(samples);
    this.ahead += samples.length;
  }

  next() {
    const block = this.blocks[this.block];
    const sample = block[this.offset++];
    this.ahead--;
    this.played++;
    if (this.offset === block.length) {
      this.blocks[this.block++] = null;
      this.offset = 0;
      if (this.block > 512) this.blocks.splice(0, this.block), (this.block = 0);
    }
    return sample / 32768;
  }

  finish(index) {
    this.over = true;
    this.flowing = false;
    this.blocks = [];
    this.tell(this, 'ended', index);
  }

  // Adds this line's sound to `out`.
  render(out) {
    if (!this.flowing) {
      if (this.stopped || (this.closed && !this.ahead)) return this.finish(0);
      if (!this.ahead || (this.ahead < this.wanted && !this.closed)) return;
      this.flowing = true;
      this.tell(this, this.begun ? 'resumed' : 'started', 0);
      this.begun = true;
    }
    for (let i = 0; i < out.length; i++) {
      // The last few milliseconds fade while nothing follows them: a drought or a broken stream ends without a click.
      const closing = this.stopped || this.ahead <= FADE;
      this.gain = closing ? Math.max(0, this.gain - 1 / FADE) : Math.min(1, this.gain + 1 / FADE);
      if (!this.ahead || (this.stopped && this.gain === 0)) {
        if (this.closed || this.stopped) return this.finish(i);
        this.flowing = false;
        this.gain = 0;
        this.wanted = Math.round(REFILL[Math.min(this.droughts++, REFILL.length - 1)] * sampleRate);
        return this.tell(this, 'starved', i);
      }
      const sample = this.next() * this.gain;
      out[i] += sample;
      if (!this.heard && Math.abs(sample) > AUDIBLE) {
        this.heard = true;
        this.tell(this, 'heard', i);
      }
    }
    if (this.played - this.reported >= REPORT_EVERY) {
      this.reported = this.played;
      this.tell(this, 'progress', out.length);
    }
  }
}

class ReadyVoiceQueue extends AudioWorkletProcessor {
  constructor() {
    super();
    this.lines = new Map();
    const tell = (line, event, index) =>
      this.port.postMessage({
        line: line.id, event, time: currentTime + index / sampleRate, played: line.played, ahead: line.ahead,
      });
    this.port.onmessage = ({ data }) => {
      if ('open' in data) this.lines.set(data.open, new Line(data.open, data.wanted, tell));
      else if ('data' in data) this.lines.get(data.data)?.push(data.samples);
      else {
        const line = this.lines.get(data.end ?? data.stop);
        if (line) line['end' in data ? 'closed' : 'stopped'] = true;
      }
    };
  }

  process(_inputs, [[out]]) {
    for (const line of this.lines.values()) {
      line.render(out);
      if (line.over) this.lines.delete(line.id);
    }
    return true;
  }
}

registerProcessor('readyvoice-queue', ReadyVoiceQueue);
