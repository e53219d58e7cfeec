// Hearing the voice that comes out, and making it better.
import { number, t } from '../base/i18n.js';
import { catalog } from '../base/store.js';
import * as engine from '../player/engine.js';
import { say } from '../voices/preview.js';
import * as draft from './draft.js';

const MARK = 'clone'; // what the engine's run is a preview of

// The model that fitted voices are for.
export const fittedModel = () => catalog.models.find(({ saved_voices: how }) => how === 'fitted');

// Brings `element` to life; returns what shows how things stand.
export function making(element) {
  const at = (selector) => element.querySelector(selector);
  const hear = at('.rv-hear');
  const told = at('.rv-try-status');
  const player = new Audio();
  let trouble = '';

  const attempt = async (work) => {
    trouble = '';
    try {
      await work();
    } catch (error) {
      trouble = draft.sentence(error);
    }
    show();
  };

  async function play(event) {
    const report = draft.current();
    if (sounding()) return engine.stop(), player.pause(), show();
    if (report.fit?.state === 'done') {
      URL.revokeObjectURL(player.src);
      player.src = URL.createObjectURL(await draft.sample());
      return player.play();
    }
    const model = fittedModel();
    return say({ model, voice: { id: report.preview.voice, language: report.language ?? '' } }, event, MARK);
  }

  const sounding = () => !player.paused || (engine.current()?.preview === MARK && engine.current().sounding);

  function show() {
    const { preview, fit } = draft.current() ?? {};
    const fitting = draft.busy(fit);
    hear.disabled = preview?.state !== 'done' || fitting;
    hear.querySelector('span').textContent = t(sounding() ? 'stop' : fit?.state === 'done' ? 'clone.hear.better' : 'clone.hear');
    at('.rv-better').hidden = fitting || fit?.state === 'done';
    at('.rv-better').disabled = preview?.state !== 'done';
    at('.rv-enough').hidden = !fitting;
    at('.rv-bar').hidden = !fitting;
    const share = fit?.steps ? fit.step / fit.steps : 0;
    at('.rv-bar span').style.transform = `scaleX(${share})`;
    at('.rv-bar').setAttribute('aria-valuenow', Math.round(100 * share));
    const text = trouble || sentence(preview, fit);
    if (told.textContent !== text) told.textContent = text;
  }

  hear.addEventListener('click', (event) => attempt(() => play(event)));
  at('.rv-better').addEventListener('click', () => attempt(() => (engine.stop(), draft.ask('fit'))));
  at('.rv-enough').addEventListener('click', () => attempt(() => draft.ask('fit/stop')));
  for (const name of ['play', 'pause', 'ended']) player.addEventListener(name, show);
  engine.on((run) => {
    if (run.preview === MARK && run.state === 'failed') trouble = run.message;
    if (run.sounding && !player.paused) player.pause();
    show();
  });
  return show;
}

function sentence(preview, fit) {
  const percent = (value) => number(100 * value, 0);
  if (!fittedModel()) return t('clone.no.fitting');
  if (fit?.state === 'waiting') return t('fit.waiting', { before: fit.before });
  if (fit?.state === 'running') {
    if (fit.step === undefined) return t('fit.beginning');
    return t('fit.running', { step: fit.step, steps: fit.steps, seconds: number(fit.seconds, 0), likeness: percent(fit.likeness) });
  }
  if (fit?.state === 'done') return t('fit.done', { before: percent(fit.before_likeness), likeness: percent(fit.likeness) });
  if (fit?.error) return fit.error.message;
  if (draft.busy(preview)) return t('preview.running');
  if (preview?.state === 'done') return t('preview.done', { likeness: percent(preview.likeness) });
  return preview?.error?.message ?? '';
}
