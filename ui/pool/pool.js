import { make } from '../base/dom.js';
import { number, t, translate } from '../base/i18n.js';
import { look, memory, on, sessions } from './watch.js';

const seconds = (value) => (value === null || value === undefined ? '–' : number(value, 1));

function size(bytes) {
  if (!bytes) return '0 MB';
  return bytes >= 1 << 30 ? `${number(bytes / 2 ** 30, 1)} GB` : `${number(bytes / 2 ** 20, bytes < 1e7 ? 1 : 0)} MB`;
}

function facts(session) {
  const rows = [
    ['pool.device', [session.device, session.precision].filter(Boolean).join(' · ') || '–'],
    ['pool.memory', session.memory_bytes ? size(session.memory_bytes) : '–'],
    ...(session.incoming ? [['pool.incoming', t(`pool.state.${session.incoming}`)]] : []),
    ['pool.queue', t('pool.queue.value', { running: Number(session.running), queue: session.queue })],
    ['pool.start', t('pool.start.value', { load: seconds(session.load_seconds), warm: seconds(session.warm_seconds) })],
    ...(session.caches ?? []).map((cache) => [
      'pool.cache', t('pool.cache.value', { ...cache, size: size(cache.bytes) }),
    ]),
  ];
  return make('dl', {}, rows.map(([key, value]) => make('div', {}, [make('dt', { text: t(key) }), make('dd', { text: value })])));
}

// What all models may take: of main memory, and of each GPU's.
const budgets = () => Object.entries(memory()).map(([device, { used, limit }]) => t('pool.budget', {
  device: device === 'cpu' ? t('pool.memory') : device, used: size(used), limit: size(limit),
}));

export function mount(element) {
  const panel = element.querySelector('details');
  const list = element.querySelector('.rv-sessions');
  const line = element.querySelector('.rv-pool-line');
  const total = element.querySelector('.rv-budget');
  const show = () => {
    line.textContent = sessions().map(({ id, state }) => `${id}: ${t(`pool.state.${state}`)}`).join(' · ');
    if (!panel.open) return;
    total.textContent = budgets().join(' · ');
    list.replaceChildren(...sessions().map((session) => make('section', { class: 'rv-session' }, [
      make('h3', {}, [
        make('span', { class: 'rv-dot', 'data-state': session.state }),
        make('span', { text: session.id }),
        make('small', { text: `${session.family} · ${t(`pool.state.${session.state}`)}` }),
      ]),
      session.reason ? make('p', { class: session.state === 'failed' ? 'rv-reason' : 'rv-note', text: session.reason }) : null,
      facts(session),
    ])));
  };
  const visible = new IntersectionObserver(([entry]) => look(panel.open && entry.isIntersecting));
  panel.addEventListener('toggle', () => (look(panel.open), show()));
  visible.observe(panel);
  translate(element, show);
  on(show);
}
