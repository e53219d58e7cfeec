// Who won how many of the blind comparisons, kept in this browser.
import { recall, remember } from '../base/memory.js';

const KEY = 'tally';

function read() {
  try {
    return JSON.parse(recall(KEY)) ?? {};
  } catch {
    return {};
  }
}

export function add(name, won) {
  const all = read();
  const before = all[name] ?? { won: 0, of: 0 };
  remember(KEY, JSON.stringify({ ...all, [name]: { won: before.won + (won ? 1 : 0), of: before.of + 1 } }));
}

// [{name, won, of}], the best first.
export const tally = () => Object.entries(read()).map(([name, count]) => ({ name, ...count }))
  .sort((one, other) => other.won / other.of - one.won / one.of || other.of - one.of);

export const clear = () => remember(KEY, '{}');
