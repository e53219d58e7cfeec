// An ear inside the page: what the player sends to the loudspeaker passes through a recording worklet first. It sees
// the real audio graph, sample by sample.
(() => {
  const source = `
    registerProcessor('ear', class extends AudioWorkletProcessor {
      process([[input]], [[output]]) {
        if (!input) return true;
        output.set(input);
        this.port.postMessage({ frame: currentFrame, samples: input.slice() });
        return true;
      }
    });`;
  const pieces = []; // {rate, frame, samples}
  const contexts = [];
  globalThis.readyvoice = {
    async tap(context) {
      contexts.push(context);
      await context.audioWorklet.addModule(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })));
      const node = new AudioWorkletNode(context, 'ear', { outputChannelCount: [1] });
      node.port.onmessage = ({ data }) => pieces.push({ rate: context.sampleRate, ...data });
      node.connect(context.destination);
      return node;
    },
  };
  // From the first to the last sample that isn't silence: one entry a sample rate, with the time the first one sounded
  // (performance.now()) and the length of each silence of `quiet` or more that fell between.
  globalThis.ear = {
    heard() {
      return contexts.map((context) => {
        const mine = pieces.filter(({ rate }) => rate === context.sampleRate);
        const whole = new Float32Array(mine.length * 128);
        mine.forEach(({ samples }, i) => whole.set(samples, i * 128));
        let first = whole.findIndex((sample) => sample !== 0);
        let last = whole.length - 1;
        while (last >= 0 && whole[last] === 0) last--;
        if (first < 0) return { rate: context.sampleRate, samples: '', at: null, until: null };
        const frame = (index) => mine[Math.floor(index / 128)].frame + (index % 128);
        // currentTime moves by whole buffers; the output's own timestamp doesn't. Without the device's latency.
        const { contextTime, performanceTime } = context.getOutputTimestamp();
        const time = (index) => performanceTime + (frame(index) / context.sampleRate - contextTime - context.outputLatency) * 1000;
        const bytes = new Uint8Array(whole.slice(first, last + 1).buffer);
        let text = '';
        for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
        return { rate: context.sampleRate, samples: btoa(text), at: time(first), until: time(last) };
      });
    },
    forget() {
      pieces.length = 0;
    },
  };
})();
