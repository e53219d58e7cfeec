import { locale, switchTo, t, translate } from '../base/i18n.js';
import { on, summary } from '../pool/watch.js';

export function mount(element) {
  const pill = element.querySelector('.rv-pill');
  const show = () => {
    const { state, ready, all } = summary();
    pill.dataset.state = state;
    pill.querySelector('.rv-pill-text').textContent = t(`pool.${state}`, { ready, all });
  };
  pill.addEventListener('click', (event) => {
    event.preventDefault(); // a fragment in the address would be shared with the link
    const panel = document.getElementById('rv-pool');
    panel.open = true;
    panel.scrollIntoView({ behavior: 'smooth', block: 'nearest' });
    panel.querySelector('summary').focus({ preventScroll: true });
  });
  element.querySelector('.rv-switch').addEventListener('click', () => switchTo(locale() === 'en' ? 'zh' : 'en'));
  translate(element, show);
  on(show);
}
