// The microphone: what it hears as a file, how loud it is meanwhile, and why it can't be had.
import { t } from '../base/i18n.js';

export const LONGEST = 60; // seconds; more isn't used
const KINDS = ['audio/webm;codecs=opus', 'audio/mp4', 'audio/ogg;codecs=opus', ''];

// Why there is no microphone, in one sentence.
export function refusal(error) {
  if (!navigator.mediaDevices?.getUserMedia || !globalThis.MediaRecorder) return t(isSecureContext ? 'mic.none' : 'mic.http');
  if (error?.name === 'NotAllowedError' || error?.name === 'SecurityError') return t('mic.refused');
  if (error?.name === 'NotFoundError' || error?.name === 'OverconstrainedError') return t('mic.missing');
  return t('mic.busy');
}

export class Recorder {
  // tell({seconds, level}): many times a second, level from 0 to 1.
  constructor(tell) {
    this.tell = tell;
  }

  // Resolves once it records. Throws what getUserMedia throws.
  async start() {
    if (!navigator.mediaDevices?.getUserMedia || !globalThis.MediaRecorder) throw new Error('no microphone');
    this.stream = await navigator.mediaDevices.getUserMedia({
      audio: { channelCount: 1, echoCancellation: false, noiseSuppression: false, autoGainControl: true },
    });
    try {
      this.listen();
    } catch (error) {
      for (const track of this.stream.getTracks()) track.stop();
      throw error;
    }
  }

  listen() {
    const type = KINDS.find((kind) => !kind || MediaRecorder.isTypeSupported(kind));
    this.recorder = new MediaRecorder(this.stream, { ...(type ? { mimeType: type } : {}), audioBitsPerSecond: 128_000 });
    this.parts = [];
    this.recorder.addEventListener('dataavailable', ({ data }) => this.parts.push(data));
    this.done = new Promise((resolve) => this.recorder.addEventListener('stop', resolve));
    this.recorder.start(1000);
    this.began = performance.now();
    this.watch();
  }

  watch() {
    this.context = new AudioContext();
    const ear = new AnalyserNode(this.context, { fftSize: 1024 });
    this.context.createMediaStreamSource(this.stream).connect(ear);
    const samples = new Float32Array(ear.fftSize);
    this.timer = setInterval(() => {
      ear.getFloatTimeDomainData(samples);
      const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
      const level = Math.min(1, Math.max(0, 1 + Math.log10(power + 1e-10) / 5)); // -50 dB to 0 dB
      this.tell({ seconds: (performance.now() - this.began) / 1000, level });
    }, 60);
  }

  // The recording, as a Blob.
  async stop() {
    clearInterval(this.timer);
    if (this.recorder.state !== 'inactive') this.recorder.stop();
    await this.done;
    for (const track of this.stream.getTracks()) track.stop();
    this.context.close();
    return new Blob(this.parts, { type: this.recorder.mimeType });
  }
}
