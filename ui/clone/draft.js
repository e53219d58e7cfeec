// The clip at hand: what the server says of it, and what it can be asked to do with it.
import { api, ServerError } from '../base/api.js';
import { t } from '../base/i18n.js';
import { save } from '../base/saved.js';

const POLL = 600;
const BUSY = ['waiting', 'running'];
const bus = new EventTarget();
let report = null;
let polling = false;

export const on = (listener) => bus.addEventListener('change', listener);
export const current = () => report;
export const busy = (work) => BUSY.includes(work?.state);
export const sentence = (error) => (error instanceof ServerError ? error.message : t('error.away'));

function set(next) {
  report = next;
  bus.dispatchEvent(new Event('change'));
}

const address = (action = '') => `api/voices/clips/${report.clip}${action}`;

// An answer about a clip that has been put away meanwhile is nobody's business.
async function told(clip, answer) {
  const next = await (await answer).json();
  if (report?.clip === clip) set(next);
}

// Has the server load what it checks recordings with: by the time one is made, that is there.
export const getReady = () => api('api/voices/tools', { method: 'POST' }).catch(() => {});

// Sends a recording, which takes the last one's place. Throws what `api` throws.
export async function send(blob, name) {
  forget();
  const body = new FormData();
  body.append('file', blob, name);
  set(await (await api('api/voices/clips', { method: 'POST', body })).json());
}

// Has the words found, or compared with those given.
export function listen(transcript = '', language = '') {
  return told(report.clip, api(address('/transcript'), {
    method: 'POST', body: JSON.stringify({ transcript, language }), headers: { 'Content-Type': 'application/json' },
  }));
}

// 'preview', 'fit' or 'fit/stop'. Resolves once it is begun; listeners hear how it goes on.
export async function ask(what) {
  await told(report.clip, api(address(`/${what}`), { method: 'POST' }));
  poll();
}

async function poll() {
  if (polling) return;
  polling = true;
  try {
    while (report && (busy(report.preview) || busy(report.fit))) {
      const { clip } = report;
      await new Promise((next) => setTimeout(next, POLL));
      if (report?.clip === clip) await told(clip, api(address())).catch((error) => error instanceof ServerError && set(null));
    }
  } finally {
    polling = false;
  }
}

export const sample = async () => (await api(address('/sample'))).blob();

// The clip becomes a voice, and is no longer at hand.
export async function keep(values) {
  const voice = await save({ clip: report.clip, ...values });
  report = null; // and nobody is told: it isn't lost
  return voice;
}

export function forget() {
  if (!report) return;
  api(address(), { method: 'DELETE' }).catch(() => {});
  set(null);
}
