// The same text in up to four voices: side by side with their names, or two of them without, to be voted on.
import { make } from '../base/dom.js';
import { load, locale, number, t, translate } from '../base/i18n.js';
import { recall, remember } from '../base/memory.js';
import * as library from '../base/saved.js';
import { catalog, on } from '../base/store.js';
import * as engine from '../player/engine.js';
import { slotRow, title } from './slots.js';
import { add, clear, tally } from './tally.js';

const MOST = 4;
const SEED = 1; // so that a second listening is the same sound

function stored() {
  try {
    return JSON.parse(recall('compare')) ?? [];
  } catch {
    return [];
  }
}

export function mount(element) {
  const at = (selector) => element.querySelector(selector);
  const text = at('textarea');
  let slots = stored(); // {model, voice}
  let queue = []; // slots still to be heard
  let pair = null; // the two that are heard blind, and which of them were
  let shown = '';

  const tell = (said) => (at('.rv-compare-status').textContent = said);
  const keep = (next) => {
    slots = next;
    remember('compare', JSON.stringify(slots));
    reveal();
    show();
  };
  const mark = (index) => `compare:${index}`;
  const playing = (index) => engine.current()?.preview === mark(index) && engine.current().sounding;

  async function play(index, clicked) {
    const { model, voice } = slots[index];
    const entry = catalog.models.find(({ id }) => id === model);
    const { examples } = await load('sentences');
    if (!text.value.trim()) text.value = (examples[locale()] ?? examples.en)[0];
    tell('');
    engine.speak({ text: text.value, model, voice, language: 'auto', speed: 1, seed: SEED, options: {} },
      { rate: entry?.sample_rate, clicked, preview: mark(index) });
  }

  function reveal() {
    pair = null;
    at('.rv-blind-box').hidden = true;
  }

  function begin() {
    engine.stop();
    queue = [];
    const order = slots.map((slot, index) => index).sort(() => Math.random() - 0.5).slice(0, 2);
    pair = { order, heard: new Set() };
    tell('');
    at('.rv-blind-box').hidden = false;
    for (const vote of element.querySelectorAll('[data-vote]')) vote.disabled = true;
    at('[data-side="0"]').focus();
  }

  function vote(side) {
    const [a, b] = pair.order.map((index) => slots[index]);
    const names = { a: title(a), b: title(b) };
    engine.stop();
    add(title(a), side === '0');
    add(title(b), side === '1');
    reveal();
    tell(t('blind.told', names));
    show();
  }

  function show() {
    if (!catalog.models.length) return;
    const known = slots.filter(({ model }) => catalog.models.some(({ id }) => id === model));
    slots = known.length > 1 ? known : [...known, ...catalog.models.map(({ id }) => ({ model: id, voice: '' }))].slice(0, 2);
    if (slots.length < 2) slots = [slots[0], { ...slots[0] }];
    const state = JSON.stringify([locale(), slots, catalog.models.map(({ id, state: how, voices }) => [id, how, voices.length]), library.saved()]);
    if (state !== shown) {
      at('.rv-slots').replaceChildren(...slots.map((slot, index) => slotRow(slot, index, {
        change: (next) => keep(slots.map((one, i) => (i === index ? next : one))),
        remove: slots.length > 2 ? () => keep(slots.filter((one, i) => i !== index)) : null,
      })));
    }
    shown = state;
    at('.rv-slot-add').disabled = slots.length >= MOST;
    const counts = tally();
    at('.rv-tally').hidden = !counts.length;
    at('.rv-tally dl').replaceChildren(...counts.map(({ name, won, of }) => make('div', {}, [
      make('dt', { text: name }), make('dd', { text: t('tally.won', { won, of }) })])));
    light();
  }

  function light() {
    const run = engine.current();
    for (const [index, slot] of [...element.querySelectorAll('.rv-slot')].entries()) {
      const here = playing(index) && !pair;
      slot.classList.toggle('rv-on', here);
      slot.querySelector('.rv-second').textContent = t(here ? 'stop' : 'compare.play');
      if (!pair && run?.preview === mark(index) && run.server?.ttfa) {
        slot.querySelector('small').textContent = t('read.ttfa', { ms: number(run.server.ttfa * 1000, 0) });
      }
    }
    for (const side of [0, 1]) at(`[data-side="${side}"]`).textContent = t(pair && playing(pair.order[side]) ? 'stop' : side ? 'blind.play.b' : 'blind.play.a');
  }

  at('.rv-slots').addEventListener('click', ({ target, timeStamp }) => {
    if (!target.matches('.rv-slot .rv-second')) return;
    const index = [...element.querySelectorAll('.rv-slot')].indexOf(target.closest('.rv-slot'));
    queue = [];
    if (playing(index)) engine.stop();
    else reveal(), play(index, timeStamp);
  });
  at('.rv-all').addEventListener('click', ({ timeStamp }) => {
    reveal();
    queue = slots.map((slot, index) => index).slice(1);
    play(0, timeStamp);
  });
  at('.rv-slot-add').addEventListener('click', () => keep([...slots, { ...slots.at(-1) }]));
  at('.rv-blind').addEventListener('click', begin);
  at('.rv-blind-box').addEventListener('click', ({ target, timeStamp }) => {
    const { side, vote: choice } = target.dataset;
    if (choice !== undefined && !target.disabled) vote(choice);
    if (side === undefined) return;
    const index = pair.order[side];
    if (playing(index)) return engine.stop();
    pair.heard.add(side);
    play(index, timeStamp);
    if (pair.heard.size === 2) for (const each of element.querySelectorAll('[data-vote]')) each.disabled = false;
  });
  at('.rv-tally-clear').addEventListener('click', () => (clear(), show()));
  engine.on((run) => {
    if (!run.preview?.startsWith?.('compare:')) queue = [];
    else if (run.state === 'failed') (queue = []), tell(run.message);
    else if (run.state === 'stopped') queue = [];
    else if (run.state === 'finished' && !run.sounding && queue.length) play(queue.shift(), performance.now());
    light();
  });
  on('catalog', show);
  library.on(show);
  translate(element, show);
}
