// What the pieces of the page share: the choices made, the models there are, and who is told of changes.
import { getJSON } from './api.js';
import { recall, remember } from './memory.js';
import { isSaved, known as savedKnown, on as onSaved, saved } from './saved.js';

const bus = new EventTarget();
const SETTLED = ['ready', 'failed', 'unloaded', 'registered'];

function stored() {
  try {
    return JSON.parse(recall('choice')) ?? {};
  } catch {
    return {};
  }
}

export const choice = { model: '', language: 'auto', voice: '', speed: 1, options: {}, ...stored() };
export let catalog = { default: '', text_limit: Infinity, models: [] };

export function on(event, listener) {
  bus.addEventListener(event, listener);
}

const tell = (event) => bus.dispatchEvent(new Event(event));

export function choose(change) {
  Object.assign(choice, change);
  settle();
  remember('choice', JSON.stringify(choice));
  tell('choice');
}

export const primary = (tag) => tag.toLowerCase().split('-')[0];
export const model = () => catalog.models.find(({ id }) => id === choice.model);

// The voices that fit the chosen model and language; where none is at home in it, they all speak it.
export function voices() {
  const all = model()?.voices ?? [];
  const fit = all.filter((voice) => ['mul', choice.language].includes(primary(voice.language)));
  return choice.language === 'auto' || !fit.length ? all : fit;
}

// The saved voices that the chosen model speaks in: what was fitted for it, or any where it hears the clip itself.
export function savedVoices() {
  const how = model()?.saved_voices;
  return saved().filter(({ fitted }) => how === 'clip' || (how === 'fitted' && fitted))
    .map(({ voice, name, language, mine }) => ({ id: voice, name, language, mine }));
}

// A model of fitted voices mixes them, too.
export const mixes = () => model()?.saved_voices === 'fitted';

// "af_heart(2)+am_michael(1)" as [{voice, weight}, ...]; any other voice as itself alone.
export function parts(voice) {
  const found = voice.split('+').map((part) => /^((?:my:)?[\w.-]+)\(([\d.]+)\)$/.exec(part));
  if (found.includes(null)) return voice ? [{ voice, weight: 5 }] : [];
  return found.map(([, name, weight]) => ({ voice: name, weight: Number(weight) }));
}

// Whether the catalog has a voice, or all parts of a mix; null while that isn't known.
function offered(voice) {
  const each = parts(voice).map(({ voice: name }) => {
    if (isSaved(name)) return savedKnown() ? savedVoices().some(({ id }) => id === name) : null;
    return model().voices.length ? (voice.includes('+') ? model().voices : voices()).some(({ id }) => id === name) : null;
  });
  if (each.length > 1 && !mixes()) return false;
  return each.includes(false) ? false : each.includes(null) ? null : true;
}

// What was set of the chosen model's own controls; each model's are kept while another one is chosen.
export const options = () => choice.options[choice.model] ?? {};

export function setOption(name, value) {
  const { [name]: before, ...rest } = options();
  choose({ options: { ...choice.options, [choice.model]: value === undefined ? rest : { ...rest, [name]: value } } });
}

const TYPES = { bool: 'boolean', int: 'number', float: 'number', str: 'string' };

function allowed(value, control) {
  return control !== undefined && typeof value === TYPES[control.type] && (!control.choices || control.choices.includes(value))
    && (control.low === null || value >= control.low) && (control.high === null || value <= control.high);
}

// A choice that the catalog doesn't offer falls back to the nearest one it does.
function settle() {
  if (!catalog.models.length) return;
  if (!model()) choice.model = (catalog.models.find(({ id }) => id === catalog.default) ?? catalog.models[0]).id;
  const set = Object.entries(options()).filter(([name, value]) => allowed(value, model().controls[name]));
  choice.options = { ...choice.options, [choice.model]: Object.fromEntries(set) };
  // A model that isn't loaded yet doesn't know its languages and voices: keep the choice until it does.
  const { languages, voices: known } = model();
  if (languages.length && choice.language !== 'auto' && !languages.includes(choice.language)) choice.language = 'auto';
  if (choice.voice && offered(choice.voice) === false) choice.voice = '';
  // One that has no voice of its own begins with a saved one.
  if (!choice.voice && languages.length && !known.length) choice.voice = savedVoices()[0]?.id ?? '';
}

export async function loadCatalog() {
  catalog = await getJSON('api/models');
  settle();
  tell('catalog');
  tell('choice');
  if (!catalog.models.every(({ state }) => SETTLED.includes(state))) setTimeout(retry, 1500);
}

onSaved(() => choose({}));
const retry = () => loadCatalog().catch(() => setTimeout(retry, 3000));
retry();
