// The page's words: English or Chinese by the browser's languages, or as the reader switched it.
import { recall, remember } from './memory.js';

export const LOCALES = ['en', 'zh'];
const listeners = new Set();
let current = pick();
let words = {};

function pick() {
  const chosen = recall('locale');
  if (LOCALES.includes(chosen)) return chosen;
  const primary = (navigator.languages ?? [navigator.language]).map((tag) => tag.toLowerCase().split('-')[0]);
  return primary.find((tag) => LOCALES.includes(tag)) ?? 'en';
}

export const load = (name) => fetch(new URL(`../locales/${name}.json`, import.meta.url)).then((file) => file.json());

async function use(name) {
  words = await load(name);
  current = name;
  document.documentElement.lang = name === 'zh' ? 'zh-CN' : 'en';
  for (const listener of listeners) listener();
}

// No module that imports this one runs before there are words: what is drawn once is never drawn with their keys.
await use(current).catch(() => {});

export const locale = () => current;

export function switchTo(name) {
  remember('locale', name);
  return use(name);
}

// The text under `key`, {placeholders} filled in.
export function t(key, values = {}) {
  return (words[key] ?? key).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

// "en-us" -> "American English", in the page's language.
export function languageName(tag) {
  try {
    const name = new Intl.DisplayNames([current === 'zh' ? 'zh-CN' : 'en'], { type: 'language' }).of(tag) ?? tag;
    return name.charAt(0).toUpperCase() + name.slice(1);
  } catch {
    return tag;
  }
}

export const number = (value, digits) =>
  value.toLocaleString(current === 'zh' ? 'zh-CN' : 'en', { minimumFractionDigits: digits, maximumFractionDigits: digits });

// Fills every element below `root` that names its words: data-t="key" for its text, data-t-NAME="key" for an
// attribute; now and after each switch. `after` runs then too.
export function translate(root, after = () => {}) {
  const fill = () => {
    for (const element of root.querySelectorAll('*')) {
      for (const [name, key] of Object.entries(element.dataset)) {
        if (name === 't') element.textContent = t(key);
        else if (/^t[A-Z]/.test(name)) {
          const attribute = name.slice(1).replace(/(?!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
          element.setAttribute(attribute, t(key));
        }
      }
    }
    after();
  };
  listeners.add(fill);
  fill();
}
