// The saved voices: hear, rename, share, export, delete and bring back.
import { make } from '../base/dom.js';
import { languageName, locale, number, t, translate } from '../base/i18n.js';
import * as library from '../base/saved.js';
import { catalog, choose, on } from '../base/store.js';
import { turn } from '../base/pages.js';
import { sentence } from '../clone/draft.js';
import * as engine from '../player/engine.js';
import { say } from '../voices/preview.js';

const SEARCHED = 6; // voices from which on there is something to search
const MARK = 'library:';
const PLAY = 'M3 1.8v12.4L14 8z';
const STOP = 'M2.5 2.5h11v11h-11z';

// A model that speaks in it: the one fitted voices are for, or one that hears the clip.
const speaker = ({ fitted }) => catalog.models.find(({ saved_voices: how, state }) => state !== 'failed' && how === (fitted ? 'fitted' : 'clip'))
  ?? catalog.models.find(({ saved_voices: how, state }) => state !== 'failed' && how === 'clip');

export function mount(element) {
  const at = (selector) => element.querySelector(selector);
  const list = at('.rv-mine');
  const search = at('.rv-search');
  let deleted = null;
  let renaming = '';
  let shown = '';

  const tell = (text, { bad = false, undo = null } = {}) => {
    at('.rv-library-status span').textContent = text;
    at('.rv-library-status').classList.toggle('rv-bad', bad);
    at('.rv-undo').hidden = !undo;
    deleted = undo;
  };
  const attempt = async (work) => {
    try {
      await work();
    } catch (error) {
      tell(sentence(error), { bad: true });
    }
  };

  const act = {
    hear(voice, event) {
      const run = engine.current();
      if (run?.preview === MARK + voice.voice && run.sounding) return engine.stop();
      const model = speaker(voice);
      return say({ model, voice: { id: voice.voice, language: voice.language } }, event, MARK + voice.voice);
    },
    use(voice) {
      choose({ model: speaker(voice).id, voice: voice.voice });
      turn('speak');
      document.getElementById('rv-text')?.focus();
    },
    rename(voice) {
      renaming = voice.id;
      show();
      list.querySelector('.rv-rename')?.select();
    },
    async pin(voice) {
      await library.edit(voice.id, { pinned: !voice.pinned });
      tell(t(voice.pinned ? 'mine.unpinned' : 'mine.pinned', voice));
    },
    async share(voice) {
      await library.edit(voice.id, { shared: !voice.shared });
      tell(t(voice.shared ? 'mine.unshared' : 'mine.shared', voice));
    },
    async remove(voice) {
      if (engine.current()?.preview === MARK + voice.voice) engine.stop();
      await library.remove(voice.id);
      tell(t('mine.deleted', voice), { undo: voice });
      at('.rv-undo').focus();
    },
    async copy(voice) {
      const { name } = await library.copy(voice.id, t('mine.copy.name', voice));
      tell(t('mine.copied', { name }));
    },
  };

  async function rename(voice, name) {
    renaming = '';
    if (name.trim() && name !== voice.name) await library.edit(voice.id, { name });
    show();
  }

  function row(voice) {
    const about = [
      voice.language && languageName(voice.language), t('mine.seconds', { seconds: number(voice.seconds, 0) }),
      voice.likeness !== null && t('mine.likeness', { percent: number(100 * voice.likeness, 0) }),
      voice.mine ? voice.shared && t('mine.is.shared') : t('mine.not.mine'),
    ].filter(Boolean).join(' · ');
    const button = (what, text, more = {}) => make('button', { type: 'button', class: 'rv-quiet', 'data-act': what, text, ...more });
    const hear = make('button', { type: 'button', class: 'rv-preview', 'data-act': 'hear', 'data-voice': voice.voice, 'aria-label': t('voice.preview', voice) });
    hear.innerHTML = `<svg viewBox="0 0 16 16" width="11" height="11" aria-hidden="true"><path d="${PLAY}" fill="currentColor"/></svg>`;
    const field = make('input', { type: 'text', class: 'rv-rename', maxlength: 80, 'aria-label': t('mine.rename') });
    field.value = voice.name;
    const name = renaming === voice.id ? field : make('h3', { text: voice.name });
    return make('section', { class: 'rv-mine-row', 'data-id': voice.id }, [
      speaker(voice) ? hear : make('span', { class: 'rv-preview' }),
      make('div', { class: 'rv-mine-about' }, [name, make('small', { text: about }), make('div', { class: 'rv-mine-acts' }, [
        speaker(voice) ? button('use', t('mine.use')) : null,
        ...(voice.mine ? [
          button('rename', t('mine.rename')), button('share', t(voice.shared ? 'mine.unshare' : 'mine.share'), { 'aria-pressed': String(voice.shared) }),
          button('pin', t(voice.pinned ? 'mine.unpin' : 'mine.pin'), { 'aria-pressed': String(voice.pinned) }),
          make('a', { class: 'rv-quiet', href: library.exported(voice.id), download: true, text: t('mine.export') }),
          button('remove', t('mine.delete')),
        ] : [button('copy', t('mine.copy'))]),
      ])]),
    ]);
  }

  function show() {
    const all = library.saved();
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const text = ({ name, notes = '', transcript = '', tags }) => [name, notes, transcript, ...tags].join(' ').toLowerCase();
    const found = all.filter((voice) => words.every((word) => text(voice).includes(word)));
    search.hidden = all.length < SEARCHED;
    const state = JSON.stringify([locale(), renaming, found, all.length, library.known(), catalog.models.map(({ id, state: how }) => [id, how])]);
    if (state === shown) return;
    shown = state;
    const none = make('p', { class: 'rv-soft', text: t(all.length ? 'mine.nothing' : 'mine.none') });
    list.replaceChildren(...(found.length ? found.map(row) : library.known() ? [none] : []));
  }

  const of = (target) => library.saved().find(({ id }) => id === target.closest('.rv-mine-row')?.dataset.id);
  list.addEventListener('click', (event) => {
    const button = event.target.closest('[data-act]');
    if (button) attempt(() => act[button.dataset.act](of(button), event));
  });
  list.addEventListener('keydown', (event) => {
    if (!event.target.matches('.rv-rename')) return;
    if (event.key === 'Enter') event.target.blur();
    if (event.key === 'Escape') (event.target.value = of(event.target).name), event.target.blur();
  });
  list.addEventListener('focusout', ({ target }) => target.matches('.rv-rename') && renaming && attempt(() => rename(of(target), target.value)));
  search.addEventListener('input', show);
  at('.rv-undo').addEventListener('click', () => attempt(async () => {
    const { name } = await library.undo(deleted.id);
    tell(t('mine.undone', { name }));
  }));
  at('.rv-choose input').addEventListener('change', ({ target }) => {
    const [file] = target.files;
    target.value = '';
    if (file) attempt(async () => tell(t('mine.imported', await library.bring(file))));
  });
  engine.on((run) => {
    for (const button of list.querySelectorAll('[data-act=hear]')) {
      const sounding = run.sounding && run.preview === MARK + button.dataset.voice;
      button.classList.toggle('rv-on', sounding);
      button.querySelector('path').setAttribute('d', sounding ? STOP : PLAY);
    }
    if (run.preview?.startsWith?.(MARK) && run.state === 'failed') tell(run.message, { bad: true });
  });
  library.on(show);
  on('catalog', show);
  translate(element, show);
}
