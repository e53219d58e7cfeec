// From a recording to a voice: take, report, consent, listen, save.
import { number, t, translate } from '../base/i18n.js';
import { choose } from '../base/store.js';
import { on as onTurn, page, turn } from '../base/pages.js';
import * as engine from '../player/engine.js';
import * as draft from './draft.js';
import { making, fittedModel } from './making.js';
import { Recorder, LONGEST, refusal } from './recorder.js';
import { showReport } from './report.js';

const MEGABYTES = 20;

export function mount(element) {
  const at = (selector) => element.querySelector(selector);
  const box = at('.rv-clone');
  const status = at('.rv-clone-status');
  const words = at('#rv-transcript');
  let recorder = null;
  let address = '';
  let edited = '';
  let hearing = 0;

  const say = (text, bad = false) => {
    status.textContent = text;
    status.classList.toggle('rv-bad', bad);
  };
  const step = (name) => {
    box.dataset.step = name;
    at('.rv-take').hidden = name === 'saved';
    at('.rv-take-start').hidden = name === 'recording';
    at('.rv-take-live').hidden = name !== 'recording';
    at('.rv-report').hidden = at('.rv-make').hidden = name !== 'report';
    at('.rv-saved-note').hidden = name !== 'saved';
    for (const control of at('.rv-take-start').querySelectorAll('button, input')) control.disabled = name === 'checking';
  };

  async function take(blob, name) {
    if (blob.size > MEGABYTES * 1e6) return step('start'), say(t('clone.large', { limit: MEGABYTES }), true);
    step('checking');
    say(t('clone.checking'));
    reset();
    try {
      await draft.send(blob, name);
    } catch (error) {
      step('start');
      return say(draft.sentence(error), true);
    }
    URL.revokeObjectURL(address);
    address = URL.createObjectURL(blob);
    at('.rv-take-sound').src = address;
    say('');
    step('report');
    at('.rv-report').scrollIntoView({ behavior: 'smooth', block: 'nearest' });
    await hear();
  }

  // The words, found or compared; they may be corrected while this goes on.
  async function hear(transcript = '') {
    const found = !transcript;
    hearing += 1;
    at('.rv-words').classList.add('rv-busy');
    try {
      await draft.listen(transcript);
      // what was heard, or the given words cut to the part that is kept; not over what was typed meanwhile
      if (found ? !words.value : words.value === transcript) words.value = edited = draft.current()?.transcript ?? words.value;
    } catch (error) {
      if (draft.current()) say(draft.sentence(error), true);
    }
    hearing -= 1;
    at('.rv-words').classList.remove('rv-busy');
  }

  function reset() {
    words.value = edited = '';
    at('#rv-consent').checked = at('#rv-share').checked = false;
    at('.rv-agreed').hidden = true;
    at('#rv-voice-name').value = '';
    at('.rv-save-status').textContent = '';
  }

  async function record() {
    if (recorder) return;
    engine.stop();
    say('');
    recorder = new Recorder(({ seconds, level }) => {
      at('.rv-meter i').style.transform = `scaleX(${level})`;
      at('.rv-time').textContent = t('clone.time', { seconds: number(seconds, 0), most: LONGEST });
      if (seconds >= LONGEST) stop();
    });
    try {
      await recorder.start();
    } catch (error) {
      recorder = null;
      return say(refusal(error), true);
    }
    step('recording');
    at('.rv-record-stop').focus();
  }

  async function stop() {
    const ended = recorder;
    recorder = null;
    if (ended) await take(await ended.stop(), 'recording');
  }

  at('.rv-record').addEventListener('click', record);
  at('.rv-record-stop').addEventListener('click', stop);
  at('.rv-choose input').addEventListener('change', ({ target }) => {
    const [file] = target.files;
    target.value = '';
    if (file) take(file, file.name);
  });
  for (const name of ['dragover', 'dragleave', 'drop']) {
    at('.rv-take').addEventListener(name, (event) => {
      event.preventDefault();
      at('.rv-take').classList.toggle('rv-over-drop', name === 'dragover');
      const file = name === 'drop' && event.dataTransfer.files[0];
      if (file && box.dataset.step !== 'checking' && !recorder) take(file, file.name);
    });
  }
  words.addEventListener('change', () => {
    if (words.value.trim() && words.value !== edited) hear((edited = words.value));
  });

  at('#rv-consent').addEventListener('change', ({ target }) => {
    at('.rv-agreed').hidden = !target.checked;
    if (target.checked && fittedModel() && !draft.current()?.preview) draft.ask('preview').catch((error) => say(draft.sentence(error), true));
  });
  const showMaking = making(at('.rv-try'));

  at('.rv-save').addEventListener('submit', async (event) => {
    event.preventDefault();
    const told = at('.rv-save-status');
    const button = at('.rv-save button');
    told.textContent = '';
    button.disabled = true;
    try {
      const voice = await draft.keep({
        name: at('#rv-voice-name').value, who: at('#rv-who').value, consent: at('#rv-consent').checked,
        ...(hearing && !words.value.trim() ? {} : { transcript: words.value.trim() }), shared: at('#rv-share').checked,
      });
      engine.stop();
      const model = fittedModel();
      choose({ ...(model ? { model: model.id } : {}), voice: voice.voice });
      at('.rv-saved-note p').textContent = t('clone.saved', { name: voice.name });
      step('saved');
      at('.rv-speak-in').focus();
    } catch (error) {
      told.textContent = draft.sentence(error);
    }
    button.disabled = false;
  });
  at('.rv-speak-in').addEventListener('click', () => {
    turn('speak');
    document.getElementById('rv-text')?.focus();
  });
  at('.rv-another').addEventListener('click', () => step('start'));

  const show = () => {
    const report = draft.current();
    if (report) showReport(element, report);
    else if (box.dataset.step === 'report') step('start'), say(t('clone.gone'), true);
    at('.rv-save button').disabled = draft.busy(report?.preview) || draft.busy(report?.fit);
    showMaking();
  };
  draft.on(show);
  const opened = () => page() === 'clone' && draft.getReady();
  onTurn(opened);
  opened();
  translate(element, show);
}
