// One answer at a time: asks for it, plays it as it comes, keeps it as a clip, and says how it went.
import { getJSON, newId, ServerError } from '../base/api.js';
import { t } from '../base/i18n.js';
import { Clip } from './clip.js';
import { output, warm } from './output.js';
import { speech } from './stream.js';

const START = 0.04; // seconds of sound that begin a stream: network pieces may be tiny
const POLL = 500;
const paces = new Map(); // model -> how its last stream kept up: {slowness, caution, secondsPerLetter}
const events = new EventTarget();
let run = null;

// Listeners get {run}, its fields as in Run.
export const on = (listener) => events.addEventListener('change', ({ detail }) => listener(detail));
export const current = () => run;
export { warm };

class Run {
  // state: waiting, speaking, finished, stopped, failed. heard: milliseconds from the click to the first audible
  // sample. times: performance.now() of each step. server: the answer of api/requests/ID.
  constructor(request, { clicked, preview }) {
    this.request = { ...request, id: newId() };
    this.preview = preview;
    this.state = 'waiting';
    this.times = { click: clicked };
    this.server = null;
    this.clip = null;
    this.complete = false; // all of it received
    this.playing = true; // its live sound isn't over
    this.starving = false;
    this.droughts = 0;
    this.played = 0; // seconds
    this.error = null;
    this.abort = new AbortController();
  }

  get heard() {
    return this.times.heard === undefined ? null : this.times.heard - this.times.click;
  }

  get active() {
    return run === this && (this.state === 'waiting' || this.state === 'speaking');
  }

  // Something can still be stopped: sound, or work for it.
  get sounding() {
    return run === this && (this.active || this.playing);
  }

  tell() {
    if (run === this) events.dispatchEvent(new CustomEvent('change', { detail: this }));
  }

  // The request leaves before anything else is done; `rate` is the model's, known from the catalog.
  async start(rate) {
    const stream = speech(this.request, this.abort.signal);
    const head = stream.next();
    this.times.asked = performance.now();
    let poll = 0;
    try {
      if (rate) output(rate); // resumed inside the gesture
      this.tell();
      poll = setInterval(() => this.look(), POLL);
      const { value: { rate: given, segments, comment } } = await head;
      this.times.headers = performance.now();
      this.segments = segments;
      this.clip = new Clip(given, comment);
      this.line = output(given).line(this.patience(), (event) => this.hear(event));
      for await (const block of stream) {
        this.times.bytes ??= performance.now();
        this.clip.add(block);
        this.line.push(block);
      }
      this.complete = true;
      this.times.complete = performance.now();
    } catch (error) {
      await this.fail(error);
    } finally {
      clearInterval(poll);
      this.line?.end();
    }
    if (!this.line || !this.clip.samples) this.over();
    await this.look();
    this.learn();
    this.tell();
  }

  // Seconds to gather before speaking: next to nothing, unless this model could not keep up lately.
  patience() {
    const { caution = 0, slowness = 0, secondsPerLetter = 0 } = paces.get(this.request.model) ?? {};
    if (!caution) return START;
    const expected = [...this.request.text].length * secondsPerLetter;
    return Math.min(5, Math.max(caution, slowness > 0.9 ? expected * (1 - 0.9 / slowness) : 0));
  }

  learn() {
    if (!this.complete || !this.clip.samples) return;
    const before = paces.get(this.request.model)?.caution ?? 0;
    const caution = this.droughts ? Math.min(2, Math.max(0.3, 2 * before)) : before > 0.1 ? before / 2 : 0;
    paces.set(this.request.model, {
      slowness: (this.times.complete - this.times.bytes) / 1000 / this.clip.seconds, caution,
      secondsPerLetter: this.clip.seconds / [...this.request.text].length,
    });
  }

  hear({ event, at, played, rate }) {
    this.played = played / rate;
    if (event === 'started') {
      this.times.started = at;
      this.state = this.active ? 'speaking' : this.state;
      this.look();
    } else if (event === 'heard') this.times.heard = at;
    else if (event === 'starved') (this.starving = true), this.droughts++;
    else if (event === 'resumed') this.starving = false;
    else if (event === 'ended') this.over();
    this.tell();
  }

  over() {
    this.playing = this.starving = false;
    if (this.active) this.state = 'finished';
  }

  // The server's own figures of this request.
  async look() {
    // Before the headers came the server may not know the request yet, and a 404 would stand in the console.
    const known = this.times.headers !== undefined || performance.now() - this.times.asked > 2 * POLL;
    if (this.looking || this.error instanceof ServerError || !known) return;
    this.looking = true;
    try {
      this.server = await getJSON(`api/requests/${this.request.id}`);
      if (this.complete && this.server.state === 'running') {
        await new Promise((next) => setTimeout(next, 100)); // the last byte overtook the books
        this.server = await getJSON(`api/requests/${this.request.id}`);
      }
      this.tell();
    } catch {
      // figures are a courtesy: the sound goes on without them
    } finally {
      this.looking = false;
    }
  }

  async fail(error) {
    if (this.state === 'stopped' || error.name === 'AbortError') return;
    this.state = 'failed';
    this.error = error;
    if (error instanceof ServerError) {
      this.message = error.message;
      return;
    }
    this.message = t(this.clip ? 'error.broken' : 'error.unreachable');
    this.tell();
    try {
      // Ask why: the connection only breaks, the reason is in the server's books.
      const told = await getJSON(`api/requests/${this.request.id}`);
      this.server = told;
      // "cancelled" is only how the break looks from the server's side
      if (told.error?.message && told.error.code !== 'cancelled') this.message = told.error.message;
    } catch {
      // the server is gone: the sentence stands
    }
  }

  stop() {
    const active = this.active;
    this.line?.stop();
    this.abort.abort();
    if (active) this.state = 'stopped';
    this.over();
    this.tell();
  }
}

// Speaks `request` ({text, model, voice, language, speed}); an answer still sounding stops first. clicked: the
// event's timeStamp. preview: leaves the last clip where it is.
export function speak(request, { rate = 0, clicked = performance.now(), preview = false } = {}) {
  run?.stop();
  run = new Run(request, { clicked, preview });
  return run.start(rate);
}

export function stop() {
  if (run?.sounding) run.stop();
}

// Says why nothing can be spoken, without asking the server.
export function refuse(message) {
  run?.stop();
  run = new Run({ text: '' }, { clicked: performance.now(), preview: false });
  Object.assign(run, { state: 'failed', message, playing: false });
  run.tell();
}
