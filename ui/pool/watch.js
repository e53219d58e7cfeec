// What api/pool says, asked gently: every second while models get ready, every five while somebody looks at the
// panel, twice a minute for the pill in the header, and never from a hidden tab.
import { getJSON } from '../base/api.js';
import { catalog, loadCatalog } from '../base/store.js';

const bus = new EventTarget();
let report = null;
let away = false;
let looked = false;
let timer = 0;
let asking = false;

export const on = (listener) => bus.addEventListener('change', listener);
export const sessions = () => report?.sessions ?? [];
export const memory = () => report?.memory ?? {};

export function summary() {
  const all = sessions().length;
  const ready = sessions().filter(({ state }) => state === 'ready').length;
  const busy = sessions().some(({ state }) => state === 'loading' || state === 'warming');
  const state = away ? 'away' : !report || busy ? 'warming' : ready === all || report.ready ? 'ready' : 'part';
  return { state, ready, all };
}

async function ask() {
  clearTimeout(timer);
  if (asking || document.hidden) return;
  asking = true;
  try {
    report = await getJSON('api/pool');
    away = false;
    if (catalog.version !== undefined && catalog.version !== report.version) loadCatalog().catch(() => {});
  } catch {
    away = true;
  }
  asking = false;
  bus.dispatchEvent(new Event('change'));
  timer = setTimeout(ask, away ? 5000 : summary().state === 'warming' ? 1000 : looked ? 5000 : 30_000);
}

// Whether somebody looks at the panel.
export function look(open) {
  looked = open;
  ask();
}

document.addEventListener('visibilitychange', ask);
ask();
