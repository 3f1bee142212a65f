// Comments on lines of a change: each is shown below its line, and is sent with the request for
// the next round.
import { element, ownElement } from './element.js';

const find = (place) => document.querySelector(`textarea[name="${CSS.escape(`comment:${place}`)}"]`);

// commentOn returns the control for a comment on a line. If there is none, it adds one below the
// line, or in the form of the next round if the line is on another page.
export function commentOn(place) {
  const there = find(place);
  if (there) return there;
  const line = document.querySelector(`[data-place="${CSS.escape(place)}"]`)?.closest('tr');
  const field = element('textarea', { name: `comment:${place}`, rows: 2, dir: 'auto' });
  field.setAttribute('form', 'steer');
  const label = element('label', { className: 'field' }, `Comment on ${place}`, field);
  const remove = element('button', { type: 'button', className: 'link' }, 'Remove');
  const outer = line ? below(line, label, remove) : ownElement('div', {}, label, remove);
  if (!line) document.getElementById('comments').append(outer);
  remove.addEventListener('click', () => {
    field.value = '';
    field.dispatchEvent(new Event('input', { bubbles: true }));
    outer.remove();
    line?.classList.remove('commented');
    count();
  });
  count();
  return field;
}

// below adds a row with these parts below a line.
function below(line, ...parts) {
  const row = ownElement('tr', { className: 'comment' }, element('td', { colSpan: line.cells.length }, ...parts));
  line.classList.add('commented');
  line.after(row);
  return row;
}

// count shows in the form of the next round how many comments will be sent with it.
function count() {
  const n = document.querySelectorAll('tr.comment').length;
  const list = document.getElementById('comments');
  let line = list.querySelector('p');
  if (!line) {
    line = ownElement('p', { className: 'help' });
    list.prepend(line);
  }
  line.textContent = n ? `${n === 1 ? 'One comment on a line' : `${n} comments on lines`} will be sent.` : '';
}

// go moves the focus to a line's number.
function go(cell) {
  cell.tabIndex = -1;
  cell.setAttribute('role', 'button');
  cell.setAttribute('aria-label', `Comment on ${cell.dataset.place}`);
  cell.focus();
}

// press moves between lines with the arrow keys, and comments with Enter.
function press(event) {
  const lines = event.target.closest('.scroll');
  if (!lines || event.target.matches('textarea, button')) return;
  const cell = event.target.closest('[data-place]');
  if (event.key === 'Enter' && cell) {
    event.preventDefault();
    commentOn(cell.dataset.place).focus();
    return;
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const cells = [...lines.querySelectorAll('[data-place]')];
  const next = cells[cells.indexOf(cell) + step];
  if (next) {
    event.preventDefault();
    go(next);
  }
}

const armed = new WeakSet();

export function comments() {
  const patches = document.querySelector('[data-comments]');
  if (!patches || armed.has(patches)) return;
  armed.add(patches);
  patches.addEventListener('click', (event) => {
    const cell = event.target.closest('[data-place]');
    if (cell) commentOn(cell.dataset.place).focus();
  });
  patches.addEventListener('keydown', press);
}
