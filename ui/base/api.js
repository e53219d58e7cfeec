// Requests to our own server. Addresses are relative to the page, which may live below a sub-path.
import { locale, t } from './i18n.js';

export class ServerError extends Error {
  constructor(status, { code = 'internal', message, field = null } = {}) {
    super(message || t('error.server', { status }));
    Object.assign(this, { status, code, field });
  }
}

// The answer to a fetch of `path`. Throws ServerError for a refusal, and what fetch throws for a dead connection.
export async function api(path, options = {}) {
  const answer = await fetch(new URL(path, document.baseURI), {
    ...options, headers: { 'Accept-Language': locale(), ...options.headers },
  });
  if (answer.ok) return answer;
  throw new ServerError(answer.status, (await answer.json().catch(() => ({}))).error);
}

export const getJSON = async (path, options) => (await api(path, options)).json();

export function newId() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
