// Which page is shown; the others stay as they are.
import { translate } from '../base/i18n.js';
import { on, page, turn } from '../base/pages.js';

export function mount(element) {
  const tabs = [...element.querySelectorAll('[role=tab]')];
  const show = () => {
    for (const tab of tabs) {
      const here = tab.dataset.page === page();
      tab.setAttribute('aria-selected', here);
      tab.tabIndex = here ? 0 : -1;
    }
  };
  element.addEventListener('click', ({ target }) => target.dataset.page && turn(target.dataset.page));
  element.addEventListener('keydown', ({ key }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (!step) return;
    const next = tabs[(tabs.findIndex((tab) => tab.dataset.page === page()) + step + tabs.length) % tabs.length];
    turn(next.dataset.page);
    next.focus();
  });
  on(show);
  show();
  translate(element);
}
