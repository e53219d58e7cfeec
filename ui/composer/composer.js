// The text, its examples and counter, Speak and Stop.
import { make } from '../base/dom.js';
import { load, locale, number, t, translate } from '../base/i18n.js';
import { recall, remember } from '../base/memory.js';
import { page } from '../base/pages.js';
import { catalog, choice, model, on, options } from '../base/store.js';
import * as engine from '../player/engine.js';

const mac = /Mac|iPhone|iPad/.test(navigator.platform ?? '');
const letters = (text) => [...text].length; // as the server counts: characters, not UTF-16 units

export function mount(element) {
  const text = element.querySelector('textarea');
  const speak = element.querySelector('#rv-speak');
  const stop = element.querySelector('#rv-stop');

  const count = () => {
    const counter = element.querySelector('.rv-count');
    const limit = catalog.text_limit;
    const values = { count: number(letters(text.value), 0), limit: number(limit, 0) };
    counter.textContent = t('text.count', values);
    counter.title = t('text.count.label', values);
    counter.classList.toggle('rv-over', letters(text.value) > limit);
  };

  const start = (event) => {
    const said = text.value;
    const limit = catalog.text_limit;
    const wrong = !said.trim() ? 'error.empty' : letters(said) > limit ? 'error.long' : '';
    if (wrong) {
      engine.refuse(t(wrong, { count: number(letters(said), 0), limit: number(limit, 0) }));
      text.focus();
      return;
    }
    const { model: id, voice, language, speed } = choice;
    engine.speak({ text: said, model: id, voice, language, speed, options: options() }, { rate: model()?.sample_rate, clicked: event.timeStamp });
  };

  text.value = recall('text') ?? '';
  text.addEventListener('input', () => (remember('text', text.value), count()));
  speak.addEventListener('click', start);
  stop.addEventListener('click', () => engine.stop());
  document.addEventListener('keydown', (event) => {
    if (page() !== 'speak') return;
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.preventDefault(), start(event);
    else if (event.key === 'Escape' && engine.current()?.sounding) event.preventDefault(), engine.stop();
  });
  engine.on((run) => {
    const had = document.activeElement === stop;
    stop.disabled = !run.sounding;
    if (had && stop.disabled) speak.focus(); // a disabled button would lose the keyboard's place
  });

  const examples = async () => {
    const { examples: all } = await load('sentences');
    const wanted = choice.language !== 'auto' ? choice.language : locale();
    const offered = model()?.languages?.includes(wanted) === false ? model().languages[0] : wanted;
    const group = element.querySelector('.rv-examples');
    if (group.dataset.language === offered) return;
    group.dataset.language = offered;
    group.replaceChildren(...(all[offered] ?? []).map((sentence) => {
      const chip = make('button', { type: 'button', class: 'rv-chip', text: sentence, lang: offered, title: sentence });
      chip.addEventListener('click', () => replace(text, sentence));
      return chip;
    }));
  };

  on('choice', examples);
  on('catalog', count);
  translate(element, () => {
    element.querySelector('.rv-keys').textContent = t(mac ? 'keys.mac' : 'keys');
    count();
    examples();
  });
}

// As if typed, so that undo brings back what stood there.
function replace(area, sentence) {
  area.focus();
  area.select();
  if (!document.execCommand('insertText', false, sentence)) {
    area.value = sentence;
    area.dispatchEvent(new Event('input'));
  }
}
