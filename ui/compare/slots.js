// One of the voices that are compared: its model and its voice.
import { make } from '../base/dom.js';
import { languageName, locale, t } from '../base/i18n.js';
import * as library from '../base/saved.js';
import { catalog } from '../base/store.js';

const entry = (model) => catalog.models.find(({ id }) => id === model);

function offered(model) {
  const how = entry(model)?.saved_voices;
  const own = library.saved().filter(({ fitted }) => how === 'clip' || (how === 'fitted' && fitted));
  return [...own.map(({ voice, name }) => ({ id: voice, name })), ...(entry(model)?.voices ?? [])];
}

const nameOf = ({ name, names }) => names?.[locale()] ?? name;

// "kokoro · Heart"
export function title({ model, voice }) {
  const found = offered(model).find(({ id }) => id === voice);
  return `${model} · ${found ? nameOf(found) : t('voice.auto')}`;
}

// act: {change(slot), remove() or null}
export function slotRow(slot, index, act) {
  const models = make('select', { 'aria-label': t('compare.model', { number: index + 1 }) }, catalog.models.map(({ id, state }) => (
    make('option', { value: id, text: id, disabled: state === 'failed' }))));
  models.value = slot.model;
  const voices = make('select', { 'aria-label': t('compare.voice', { number: index + 1 }) }, [
    make('option', { value: '', text: t('voice.auto') }),
    ...offered(slot.model).map((voice) => make('option', {
      value: voice.id, text: [nameOf(voice), voice.language && voice.language !== 'mul' ? languageName(voice.language) : ''].filter(Boolean).join(' – '),
    })),
  ]);
  voices.value = slot.voice;
  if (voices.selectedIndex < 0) voices.value = '';
  models.addEventListener('change', () => act.change({ model: models.value, voice: '' }));
  voices.addEventListener('change', () => act.change({ ...slot, voice: voices.value }));
  const play = make('button', { type: 'button', class: 'rv-second', text: t('compare.play') });
  const away = act.remove && make('button', { type: 'button', class: 'rv-quiet', text: '×', 'aria-label': t('compare.remove', { number: index + 1 }) });
  away?.addEventListener('click', act.remove);
  return make('section', { class: 'rv-slot' }, [models, voices, make('div', { class: 'rv-slot-line' }, [play, away]), make('small')]);
}
