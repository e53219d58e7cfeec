// Model, language, speed and voice; each voice can be heard before it is chosen.
import { make } from '../base/dom.js';
import { languageName, locale, number, t, translate } from '../base/i18n.js';
import { catalog, choice, choose, model, on, options, parts, primary, savedVoices, voices } from '../base/store.js';
import * as engine from '../player/engine.js';
import { controls } from './controls.js';
import { mixer } from './mix.js';
import { say } from './preview.js';

const PLAY = 'M3 1.8v12.4L14 8z';
const STOP = 'M2.5 2.5h11v11h-11z';

export function mount(element) {
  const models = element.querySelector('#rv-model');
  const languages = element.querySelector('#rv-language');
  const speed = element.querySelector('#rv-speed');
  const list = element.querySelector('.rv-voice-list');
  const showControls = controls(element.querySelector('.rv-more'));
  const showMix = mixer(element.querySelector('.rv-mixer'));
  let shown = '';

  models.addEventListener('change', () => choose({ model: models.value }));
  languages.addEventListener('change', () => choose({ language: languages.value }));
  speed.addEventListener('input', () => choose({ speed: Number(speed.value) }));
  list.addEventListener('change', ({ target }) => choose({ voice: target.value }));
  list.addEventListener('click', (event) => {
    const button = event.target.closest('.rv-preview');
    if (button) preview(button.dataset.voice, event);
  });
  engine.on((run) => mark(list, run));

  const show = () => {
    fill(models, catalog.models.map(({ id, title, state }) => ({
      value: id, text: state === 'ready' ? called(id, title) : `${called(id, title)} (${t(`pool.state.${state}`)})`, disabled: state === 'failed',
    })), choice.model);
    fill(languages, [
      { value: 'auto', text: t('language.auto') },
      ...(model()?.languages ?? []).map((tag) => ({ value: tag, text: languageName(tag) })),
    ], choice.language);
    speed.value = choice.speed;
    const value = t('speed.value', { speed: number(choice.speed, 2) });
    element.querySelector('output[for=rv-speed]').textContent = value;
    speed.setAttribute('aria-valuetext', value);
    showControls();
    showMix();
    const state = JSON.stringify([locale(), choice.model, choice.language, voices().map(({ id }) => id), savedVoices(), mixed()]);
    if (state !== shown) list.replaceChildren(...groups());
    if (state !== shown && choice.voice) reveal(list);
    shown = state;
    for (const radio of list.querySelectorAll('input')) radio.checked = radio.value === choice.voice;
    roving(list);
    if (model()) engine.warm(model().sample_rate);
  };
  on('choice', show);
  translate(element, show);
}

// Two models of one family are told apart by their ids.
const called = (id, title) => (catalog.models.filter((one) => one.title === title).length > 1 ? `${title}: ${id}` : title);

function fill(select, wanted, value) {
  const state = JSON.stringify(wanted);
  if (select.dataset.state !== state) {
    select.dataset.state = state;
    select.replaceChildren(...wanted.map(({ value: of, text, disabled }) => make('option', { value: of, text, disabled })));
  }
  select.value = value;
}

function groups() {
  const all = voices();
  const own = savedVoices();
  const mine = own.length ? [group(t('voice.saved'), own.map((voice) => row({ ...voice, note: voice.mine ? '' : t('voice.shared') })))] : [];
  if (!all.length && own.length) return mine;
  if (!all.length) return [make('p', { class: 'rv-none', text: t(model()?.state === 'ready' ? 'voice.clip' : 'voice.none') })];
  if (all.length === 1 && all[0].language === 'mul') return [row({ ...all[0], value: '', note: '' }), ...mine]; // one of its own
  const tags = [...new Set(all.map(({ language }) => language))];
  const first = tags.filter((tag) => primary(tag) === locale());
  const ordered = [...first, ...tags.filter((tag) => !first.includes(tag))];
  return [
    row({ id: '', name: t('voice.auto'), note: t('voice.auto.note') }),
    ...(mixed() ? [row({ id: mixed(), name: t('mix.chosen'), note: parts(mixed()).map(({ voice }) => nameOf(voice)).join(' + ') })] : []),
    ...mine,
    ...ordered.map((tag) => group(groupName(tag), all.filter(({ language }) => language === tag).map((voice) => row({
      ...voice, note: voice.gender ? t(`voice.${voice.gender}`) : '',
    })))),
  ];
}

const group = (name, rows) => make('div', { role: 'group', 'aria-label': name, class: 'rv-voice-group' }, [
  make('div', { class: 'rv-group-name', 'aria-hidden': 'true', text: name }), ...rows,
]);

// The chosen voice where it is a mix.
const mixed = () => (choice.voice.includes('+') ? choice.voice : '');

function nameOf(voice) {
  const { name, names } = [...savedVoices(), ...model().voices].find(({ id }) => id === voice) ?? { name: voice };
  return names?.[locale()] ?? name;
}

const groupName = (tag) => (tag === 'mul' ? t('voice.mul') : languageName(tag));

function row({ id, name: english, names, note, value = id }) {
  const name = names?.[locale()] ?? english;
  const radio = make('input', { type: 'radio', name: 'rv-voice', value });
  const label = make('label', { class: 'rv-voice' }, [
    radio, make('span', { class: 'rv-voice-name', text: name }), make('small', { text: note }),
  ]);
  if (!id) return make('div', { class: 'rv-voice-row' }, [label]);
  const button = make('button', {
    type: 'button', class: 'rv-preview', 'data-voice': id, 'data-name': name, tabindex: '-1',
    'aria-label': t('voice.preview', { name }), title: t('voice.preview', { name }),
  });
  button.innerHTML = `<svg viewBox="0 0 16 16" width="11" height="11" aria-hidden="true"><path d="${PLAY}" fill="currentColor"/></svg>`;
  return make('div', { class: 'rv-voice-row' }, [label, button]);
}

// Only the chosen voice's preview is a stop of the Tab key, not all fifty.
function roving(list) {
  for (const button of list.querySelectorAll('.rv-preview')) {
    button.tabIndex = button.closest('.rv-voice-row').querySelector('input').value === choice.voice ? 0 : -1;
  }
}

function reveal(list) {
  const radio = list.querySelector(`input[value="${CSS.escape(choice.voice)}"]`);
  if (radio) list.scrollTop = radio.closest('.rv-voice-row').offsetTop - list.offsetTop - list.clientHeight / 3;
}

async function preview(id, event) {
  const run = engine.current();
  if (run?.preview === id && run.sounding) return engine.stop();
  const voice = [...model().voices, ...savedVoices()].find((one) => one.id === id) ?? { id, language: 'mul' };
  await say({ model: model(), voice, wish: choice.language, speed: choice.speed, options: options() }, event);
}

function mark(list, run) {
  for (const button of list.querySelectorAll('.rv-preview')) {
    const on = run.sounding && run.preview === button.dataset.voice;
    if (button.classList.contains('rv-on') === on) continue;
    button.classList.toggle('rv-on', on);
    button.querySelector('path').setAttribute('d', on ? STOP : PLAY);
    const label = t(on ? 'voice.previewing' : 'voice.preview', { name: button.dataset.name });
    button.setAttribute('aria-label', label);
    button.title = label;
  }
}
