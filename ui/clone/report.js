// What the server found in a clip: its outline with what was kept, and what its figures mean.
import { make } from '../base/dom.js';
import { locale, number, t } from '../base/i18n.js';

const WIDTH = 600;
const MIDDLE = 40;
const MARKS = { good: 'M3 8.5l3.2 3.2L13 5', fair: 'M8 3.5v5.5M8 12v.5', poor: 'M4 4l8 8M12 4l-8 8' };

export function showReport(element, { outline, kept, seconds, findings }) {
  const loudest = Math.max(...outline, 0.05);
  const inside = (at) => kept.some(([start, end]) => at >= start && at < end);
  const bars = { true: '', false: '' };
  outline.forEach((level, index) => {
    const x = ((index + 0.5) / outline.length) * WIDTH;
    const height = Math.max(0.6, (level / loudest) * (MIDDLE - 2));
    bars[inside(((index + 0.5) / outline.length) * seconds)] += `M${x.toFixed(1)} ${(MIDDLE - height).toFixed(1)}v${(2 * height).toFixed(1)}`;
  });
  element.querySelector('.rv-kept').setAttribute('d', bars.true);
  element.querySelector('.rv-dropped').setAttribute('d', bars.false);
  const used = kept.reduce((sum, [start, end]) => sum + end - start, 0);
  element.querySelector('.rv-outline-key').textContent = t('clone.kept', { used: number(used, 1), seconds: number(seconds, 1) });
  element.querySelector('.rv-findings').replaceChildren(...findings.map(({ level, sentences }) => {
    const item = make('li', { 'data-level': level }, [make('span', { text: sentences[locale()] ?? sentences.en })]);
    item.insertAdjacentHTML('afterbegin', `<svg viewBox="0 0 16 16" width="16" height="16" role="img" aria-label="${t(`finding.${level}`)}"><path d="${MARKS[level]}" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"/></svg>`);
    return item;
  }));
}
