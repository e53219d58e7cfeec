// What outlives a reload: this tab's own last value, else the one any tab left last.

const read = (place, key) => {
  try {
    return globalThis[place].getItem(`readyvoice.${key}`);
  } catch {
    return null; // storage may be forbidden
  }
};

export const recall = (key) => read('sessionStorage', key) ?? read('localStorage', key);

export function remember(key, value) {
  for (const place of ['sessionStorage', 'localStorage']) {
    try {
      globalThis[place].setItem(`readyvoice.${key}`, value);
    } catch {
      // full or forbidden: the page works without
    }
  }
}
