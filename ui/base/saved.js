// The saved voices that this browser may speak in: its own and shared ones.
import { api, getJSON } from './api.js';

const bus = new EventTarget();
let all = null; // null until they are known

export const on = (listener) => bus.addEventListener('change', listener);
export const saved = () => all ?? [];
export const known = () => all !== null;
export const isSaved = (voice) => voice.startsWith('my:');

// What a voice is called: a saved one's name; any other's id.
export const called = (voice) => saved().find((one) => one.voice === voice)?.name ?? voice;

export async function loadSaved() {
  all = (await getJSON('api/voices')).voices;
  bus.dispatchEvent(new Event('change'));
}

const address = (id, action = '') => `api/voices/${id}${action}`;
const json = (body) => ({ headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });

// Each answers with the voice, once the list is up to date. Throws what `api` throws.
async function changed(path, options) {
  const voice = await (await api(path, options)).json();
  await loadSaved().catch(retry); // the change itself went well
  return voice;
}

export const save = (values) => changed('api/voices', { method: 'POST', ...json(values) });
export const edit = (id, values) => changed(address(id), { method: 'PATCH', ...json(values) });
export const remove = (id) => changed(address(id), { method: 'DELETE' });
export const undo = (id) => changed(address(id, '/undo'), { method: 'POST' });
export const copy = (id, name) => changed(address(id, '/copy'), { method: 'POST', ...json({ name }) });
export const exported = (id) => new URL(address(id, '/export'), document.baseURI).href;

export function bring(file) {
  const body = new FormData();
  body.append('file', file);
  return changed('api/voices/import', { method: 'POST', body });
}

const retry = () => loadSaved().catch(() => setTimeout(retry, 3000));
retry();
