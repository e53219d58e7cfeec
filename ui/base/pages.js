// The page in front: a reload comes back to it.
import { recall, remember } from './memory.js';

const PAGES = ['speak', 'clone', 'compare'];
const bus = new EventTarget();
let current = PAGES.includes(recall('page')) ? recall('page') : 'speak';
document.body.dataset.rvPage = current;

export const page = () => current;
export const on = (listener) => bus.addEventListener('turn', listener);

export function turn(name) {
  current = name;
  document.body.dataset.rvPage = name;
  remember('page', name);
  bus.dispatchEvent(new Event('turn'));
}
