// The chosen model's own controls, built from what api/models says of them. What is left alone is not sent: then the
// model does as it does by itself.
import { make } from '../base/dom.js';
import { locale, number, t } from '../base/i18n.js';
import { model, options, setOption } from '../base/store.js';

const RESET = 'M3.2 6.5A5 5 0 1 1 3 9.5M3 2.6v4h4';

// Returns what brings `element`, a <details>, up to date with the choice.
export function controls(element) {
  const box = element.querySelector('.rv-controls');
  let shown = '';
  let rows = [];
  return () => {
    const declared = model()?.controls ?? {};
    element.hidden = !Object.keys(declared).length;
    const state = JSON.stringify([locale(), model()?.id, declared]);
    if (state !== shown) {
      shown = state;
      rows = Object.entries(declared).map(([name, control]) => row(name, control));
      box.replaceChildren(...rows.map(({ field }) => field));
    }
    for (const { update } of rows) update(options());
  };
}

function row(name, control) {
  const kind = kindOf(control);
  const id = `rv-control-${name}`;
  const label = control.label[locale()];
  const input = kind.make(control, { id, 'aria-describedby': `${id}-help`, 'data-control': name });
  const value = make('output', { for: id, class: 'rv-value' });
  const reset = make('button', { type: 'button', class: 'rv-reset', 'aria-label': t('control.reset', { name: label }), title: t('control.reset', { name: label }) });
  reset.innerHTML = `<svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true"><path d="${RESET}" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round"/></svg>`;
  const set = (wanted) => setOption(name, wanted === control.default ? undefined : wanted);
  input.addEventListener(kind.event, () => set(kind.read(input, control)));
  reset.addEventListener('click', () => {
    setOption(name, undefined);
    input.focus(); // the button goes away
  });
  const field = make('div', { class: 'rv-control' }, [
    make('label', { class: 'rv-label', for: id }, [make('span', { text: label }), value]),
    make('div', { class: 'rv-control-line' }, [input, reset]),
    make('p', { class: 'rv-help', id: `${id}-help`, text: control.help[locale()] }),
  ]);
  const update = (chosen) => {
    const own = chosen[name] ?? control.default;
    kind.show(input, own, control);
    value.textContent = kind.text(own, control);
    if (input.type === 'range') input.setAttribute('aria-valuetext', value.textContent);
    reset.style.visibility = chosen[name] === undefined ? 'hidden' : '';
  };
  return { field, update };
}

// How to make an input, fill it, read it, and say its value beside the label.
const checkbox = {
  event: 'change',
  make: (control, attributes) => make('input', { type: 'checkbox', ...attributes }),
  show: (input, value) => (input.checked = value),
  read: (input) => input.checked,
  text: (value) => t(value ? 'control.on' : 'control.off'),
};

const select = {
  event: 'change',
  make: (control, attributes) => make('select', attributes, control.choices.map((one) => make('option', { value: one, text: one }))),
  show: (input, value) => (input.value = value),
  read: (input) => input.value,
  text: () => '',
};

const text = {
  event: 'input',
  make: (control, attributes) => make('input', { type: 'text', autocomplete: 'off', ...attributes }),
  show: (input, value) => input.value === value || (input.value = value ?? ''),
  read: (input) => input.value,
  text: () => '',
};

const range = {
  event: 'input',
  make: (control, attributes) => make('input', { type: 'range', min: control.low, max: control.high, step: step(control), ...attributes }),
  show: (input, value, { low, high }) => (input.value = value ?? (low + high) / 2),
  read: (input) => Number(input.value),
  text: (value, control) => (value === null ? t('control.auto') : said(value, control)),
};

const figure = {
  event: 'change',
  make: (control, attributes) => make('input', {
    type: 'number', min: control.low, max: control.high, step: control.type === 'int' ? 1 : 'any', placeholder: t('control.auto'), ...attributes,
  }),
  show: (input, value) => (input.value = value ?? ''),
  read: (input, control) => (input.value === '' || !input.checkValidity() ? control.default : Number(input.value)),
  text: () => '',
};

function kindOf({ type, choices, low, high }) {
  if (type === 'bool') return checkbox;
  if (choices) return select;
  if (type === 'str') return text;
  return low !== null && high !== null ? range : figure;
}

// A hundredth of the way, in round figures, and whole ones for whole numbers.
function step({ type, low, high }) {
  if (type === 'int') return 1;
  const share = (high - low) / 100;
  const power = 10 ** Math.floor(Math.log10(share));
  return Math.min(1, power * ([5, 2, 1].find((one) => one * power <= share * 1.0001) ?? 1));
}

const said = (value, control) => number(value, control.type === 'int' ? 0 : Math.max(0, -Math.floor(Math.log10(step(control)) + 1e-9)));
