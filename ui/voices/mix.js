// Several voices as one: a slider each, and the mix is a voice like any other: "af_heart(2)+am_michael(1)".
import { make } from '../base/dom.js';
import { locale, t } from '../base/i18n.js';
import { choice, choose, mixes, model, parts, savedVoices } from '../base/store.js';

const MOST = 6;

const written = (mix) => mix.map(({ voice, weight }) => `${voice}(${weight})`).join('+');

// Returns what brings `element`, a <details>, up to date with the choice.
export function mixer(element) {
  const box = element.querySelector('.rv-mix');
  let mix = parts(choice.voice);
  let shown = '';

  const offered = () => [...savedVoices(), ...(model()?.voices ?? [])];
  const set = (next) => {
    mix = next;
    choose(mix.length > 1 ? { voice: written(mix) } : {});
    show();
  };
  const other = (taken) => offered().find(({ id }) => !taken.includes(id))?.id;

  function begin() {
    const first = choice.voice || (model().default_voice[locale()] ?? Object.values(model().default_voice)[0]);
    set([{ voice: first, weight: 5 }, { voice: other([first]), weight: 5 }]);
  }

  function row({ voice, weight }, index) {
    const select = make('select', { 'aria-label': t('mix.voice', { number: index + 1 }) }, offered().map(({ id, name, names }) => (
      make('option', { value: id, text: names?.[locale()] ?? name, disabled: id !== voice && mix.some((one) => one.voice === id) }))));
    select.value = voice;
    const slider = make('input', { type: 'range', min: 1, max: 10, step: 1, 'aria-label': t('mix.share', { number: index + 1 }) });
    slider.value = weight;
    const changed = (change) => set(mix.map((one, at) => (at === index ? { ...one, ...change } : one)));
    select.addEventListener('change', () => changed({ voice: select.value }));
    slider.addEventListener('input', () => changed({ weight: Number(slider.value) }));
    const away = make('button', { type: 'button', class: 'rv-quiet', text: '×', 'aria-label': t('mix.remove', { number: index + 1 }), disabled: mix.length < 3 });
    away.addEventListener('click', () => set(mix.filter((one, at) => at !== index)));
    return make('div', { class: 'rv-mix-row' }, [select, slider, away]);
  }

  element.addEventListener('toggle', () => element.open && mix.length < 2 && mixes() && begin());
  element.querySelector('.rv-mix-add').addEventListener('click', () => (
    set([...mix, { voice: other(mix.map(({ voice }) => voice)), weight: 5 }])));

  // A slider in hand is left alone: only another set of voices makes new rows.
  function show() {
    element.hidden = !mixes();
    const chosen = parts(choice.voice);
    if (chosen.length > 1) mix = chosen;
    const state = JSON.stringify([locale(), mix.map(({ voice }) => voice), offered().map(({ id, name }) => [id, name])]);
    if (state !== shown) box.replaceChildren(...mix.map(row));
    else [...box.querySelectorAll('input')].forEach((slider, index) => (slider.value = mix[index].weight));
    shown = state;
    element.querySelector('.rv-mix-add').disabled = mix.length >= MOST || mix.length < 2;
  }
  return show;
}
