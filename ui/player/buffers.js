// The same lines as worklet.js without a worklet: browsers offer AudioWorklet only on HTTPS and localhost, and a page
// on http://a-server:6006 must speak too. Each block becomes an AudioBuffer that starts on the exact sample where the
// one before ends.

const FADE = 0.004;
const LEAD = 0.02; // seconds between scheduling and sound: the main thread needs more room than the audio thread
const AUDIBLE = 0.003 * 32768;
const REFILL = [0.3, 0.6, 1.2, 2.0];

class Line {
  constructor(port, id, wanted) {
    Object.assign(this, { port, id, wanted });
    const { context } = port;
    this.gain = context.createGain();
    this.gain.connect(port.target);
    this.waiting = [];
    this.held = 0; // samples in `waiting`
    this.sources = new Set();
    this.scheduled = 0; // samples given to the context
    this.end = 0; // context time at which they run out
    this.droughts = 0;
    this.begun = this.flowing = this.heard = this.closed = this.over = false;
    this.timer = setInterval(() => this.tick(), 50);
  }

  tell(event, time) {
    const { context, onevent } = this.port;
    const ahead = Math.max(0, Math.round((this.end - context.currentTime) * context.sampleRate));
    onevent({ line: this.id, event, time, played: Math.max(0, this.scheduled - ahead), ahead: ahead + this.held });
  }

  push(samples) {
    if (this.over || !samples.length) return;
    this.waiting.push(samples);
    this.held += samples.length;
    this.feed();
  }

  feed() {
    const { context } = this.port;
    const now = context.currentTime;
    if (this.flowing && this.end < now + 0.002) this.starve();
    if (!this.held || (!this.flowing && this.held < this.wanted && !this.closed)) return;
    const fresh = !this.flowing;
    if (fresh) this.end = now + LEAD;
    const start = this.end;
    for (const samples of this.waiting) this.schedule(samples);
    this.waiting = [];
    this.held = 0;
    const level = this.gain.gain;
    level.cancelScheduledValues(fresh ? 0 : Math.max(0, start - FADE - 1e-6));
    if (fresh) {
      level.setValueAtTime(0, start);
      level.linearRampToValueAtTime(1, start + FADE);
    }
    // Silence is the default: the ramp at the end stands until more sound moves it on.
    level.setValueAtTime(1, Math.max(start + (fresh ? FADE : 0), this.end - FADE));
    level.linearRampToValueAtTime(0, this.end);
    if (fresh) {
      this.flowing = true;
      this.tell(this.begun ? 'resumed' : 'started', start);
      this.begun = true;
    }
  }

  schedule(samples) {
    const { context } = this.port;
    const buffer = context.createBuffer(1, samples.length, context.sampleRate);
    const channel = buffer.getChannelData(0);
    for (let i = 0; i < samples.length; i++) {
      channel[i] = samples[i] / 32768;
      if (!this.heard && Math.abs(samples[i]) > AUDIBLE) {
        this.heard = true;
        const time = this.end + i / context.sampleRate;
        setTimeout(() => this.over || this.tell('heard', time), Math.max(0, (time - context.currentTime) * 1000));
      }
    }
    const source = context.createBufferSource();
    source.buffer = buffer;
    source.connect(this.gain);
    source.start(this.end);
    source.onended = () => (this.sources.delete(source), source.disconnect());
    this.sources.add(source);
    this.end += samples.length / context.sampleRate;
    this.scheduled += samples.length;
  }

  starve() {
    this.flowing = false;
    const { context } = this.port;
    this.wanted = Math.round(REFILL[Math.min(this.droughts++, REFILL.length - 1)] * context.sampleRate);
    this.tell('starved', this.end);
  }

  tick() {
    const now = this.port.context.currentTime;
    if (this.flowing && !this.closed && this.end < now) this.starve();
    if (this.flowing) this.tell('progress', now);
    if (this.closed && !this.held && this.end <= now) this.finish();
  }

  close() {
    this.closed = true;
    this.feed();
  }

  stop() {
    const now = this.port.context.currentTime;
    this.gain.gain.cancelScheduledValues(now);
    this.gain.gain.setValueAtTime(this.gain.gain.value, now);
    this.gain.gain.linearRampToValueAtTime(0, now + FADE);
    for (const source of this.sources) source.stop(now + 2 * FADE);
    this.end = Math.min(this.end, now);
    this.finish();
  }

  finish() {
    if (this.over) return;
    this.over = true;
    clearInterval(this.timer);
    this.tell('ended', this.port.context.currentTime);
    setTimeout(() => this.gain.disconnect(), 100);
  }
}

export class BufferPort {
  // onevent receives what the worklet would post.
  constructor(context, target) {
    Object.assign(this, { context, target, onevent: () => {} });
    this.lines = new Map();
  }

  postMessage(message) {
    if ('open' in message) {
      for (const [id, line] of this.lines) if (line.over) this.lines.delete(id);
      this.lines.set(message.open, new Line(this, message.open, message.wanted));
    } else if ('data' in message) this.lines.get(message.data)?.push(message.samples);
    else if ('end' in message) this.lines.get(message.end)?.close();
    else this.lines.get(message.stop)?.stop();
  }
}
