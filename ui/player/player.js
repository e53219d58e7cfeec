// Shows the engine's run: what is happening, how far it is, how quick it was, and the finished clip.
import { make } from '../base/dom.js';
import { number, t, translate } from '../base/i18n.js';
import { called } from '../base/saved.js';
import { fileName } from './clip.js';
import * as engine from './engine.js';

export function mount(element) {
  const box = element.querySelector('.rv-play');
  const status = element.querySelector('.rv-status');
  const audio = element.querySelector('audio');
  const link = element.querySelector('.rv-download');
  let run = null;
  let address = '';
  let kept = null;

  const show = () => {
    box.dataset.state = run ? (run.starving ? 'starving' : run.state) : 'idle';
    const said = sentence(run);
    if (status.textContent !== said) status.textContent = said; // a live region: speak only of changes
    bar(element, run);
    element.querySelector('.rv-reads').replaceChildren(...(run ? reads(run) : []));
  };

  const keep = () => {
    if (run.preview || kept === run || !run.clip?.samples || (!run.complete && run.state === 'speaking')) return;
    if (run.state === 'waiting') return;
    kept = run;
    if (address) URL.revokeObjectURL(address);
    address = URL.createObjectURL(run.clip.wav());
    audio.src = address;
    link.href = address;
    link.download = fileName(run.request.model, called(run.request.voice || run.server?.voice || ''), run.request.text);
    element.querySelector('.rv-clip').hidden = false;
  };

  engine.on((next) => {
    if (next !== run) audio.pause();
    run = next;
    show();
    keep();
  });
  audio.addEventListener('play', () => engine.stop()); // never two at once
  translate(element, show);
}

function sentence(run) {
  if (!run) return t('status.idle');
  const seconds = number(run.state === 'stopped' ? run.played : run.clip?.seconds ?? 0, 1);
  if (run.state === 'failed') return [run.message, run.clip?.samples && !run.preview ? t('status.kept') : ''].join(' ').trim();
  if (run.state === 'stopped') return run.played ? t('status.stopped', { seconds }) : t('status.stopped.silent');
  if (run.state === 'finished') return t('status.finished', { seconds });
  if (run.state === 'waiting') return t(run.server?.state === 'queued' ? 'status.queued' : 'status.waiting');
  if (run.starving) return t('status.starving');
  if (run.complete) return t('status.made');
  const { segments: all, segments_done: done } = run.server ?? {};
  return all > 1 ? t('status.part', { done, all }) : t('status.speaking');
}

// Two strips: what the server has made, and what was heard of it.
function bar(element, run) {
  const share = !run ? 0 : run.complete ? 1 : run.server?.segments ? run.server.segments_done / run.server.segments : 0;
  const heard = run?.clip?.seconds ? run.played / run.clip.seconds : 0;
  // Before a first segment is whole, sound received and heard still deserves some progress.
  const made = Math.max(share, run?.played ? 0.04 : 0);
  element.querySelector('.rv-bar-made').style.transform = `scaleX(${made})`;
  element.querySelector('.rv-bar-heard').style.transform = `scaleX(${made * heard})`;
  element.querySelector('.rv-bar').setAttribute('aria-valuenow', Math.round(made * heard * 100));
}

function reads(run) {
  const { ttfa = null, rtf = null, queue_wait: wait = null, caches = {} } = run.server ?? {};
  const ms = (value) => number(Math.max(0, value), 0);
  // The prepared voice is what can be slow to miss; other caches (phonemes, say) miss with every new text.
  const entries = Object.entries(caches ?? {});
  const voices = entries.filter(([name]) => /voice|style|prompt/.test(name));
  const met = (voices.length ? voices : entries).map(([, how]) => how);
  const parts = [
    ttfa !== null && ['ttfa', t('read.ttfa', { ms: ms(ttfa * 1000) })],
    rtf !== null && ['rtf', t('read.rtf', { rtf: number(rtf, 2) })],
    met.length > 0 && ['cache', t(met.every((one) => one === 'hit') ? 'read.hit' : 'read.miss')],
    wait > 0.05 && ['queue', t('read.queue', { ms: ms(wait * 1000) })],
    run.heard !== null && ['heard', t('read.heard', { ms: ms(run.heard) })],
  ];
  return parts.filter(Boolean).map(([key, text]) => make('span', { text, title: t(`read.${key}.why`), 'data-read': key }));
}
