// Keys: j and k move through a list, a and d focus the answers of a question (without pressing
// them), g and n open other pages.
import { privatePath } from './private-path.js';

let first = '';

const rows = () => [...document.querySelectorAll('[data-row]')];

function move(step) {
  choose(rows().findIndex((row) => row.classList.contains('chosen')) + step);
}

// place returns the index of a row in the list, -1 for none.
export const place = (row) => rows().indexOf(row);

// choose selects the row at an index of the list, or the nearest one.
export function choose(at) {
  const all = rows();
  if (!all.length) return;
  const row = all[Math.min(Math.max(at, 0), all.length - 1)];
  for (const other of all) other.classList.toggle('chosen', other === row);
  row.querySelector('a.go, a')?.focus({ preventScroll: true });
  row.scrollIntoView({ block: 'nearest' });
}

function focusIn(selector) {
  const row = document.querySelector('[data-question].chosen') ?? document.querySelector('[data-question]') ?? document;
  row.querySelector(selector)?.focus();
}

const pages = { i: '/inbox', j: '/jobs', o: '/' };
const does = {
  j: () => move(1),
  k: () => move(-1),
  a: () => focusIn('[data-yes]'),
  d: () => focusIn('[data-no]'),
  n: () => location.assign(`${privatePath}/jobs/new`),
  '?': () => document.getElementById('keys').showModal(),
};

export function keys() {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, textarea, select, dialog')) return;
    const key = event.key;
    if (first === 'g') {
      first = '';
      if (pages[key]) location.assign(privatePath + pages[key]);
      return;
    }
    if (key === 'g') {
      first = 'g';
      setTimeout(() => { first = ''; }, 1000);
      return;
    }
    if (does[key]) {
      event.preventDefault();
      does[key]();
    }
  });
}
