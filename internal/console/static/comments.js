// Comments on lines of a change: they go along with what the next round is asked for.

// commentOn returns the control for a comment on a line, and makes it where there is none.
export function commentOn(place) {
  const list = document.getElementById('comments');
  const name = `comment:${place}`;
  let field = [...list.querySelectorAll('textarea')].find((area) => area.name === name);
  if (!field) {
    const label = document.createElement('label');
    label.className = 'field';
    label.append(place);
    field = document.createElement('textarea');
    field.name = name;
    field.rows = 2;
    field.dir = 'auto';
    label.append(field);
    list.append(label);
  }
  document.querySelector(`[data-place="${CSS.escape(place)}"]`)?.closest('tr').classList.add('commented');
  return field;
}

// go moves the focus to a line's number.
function go(cell) {
  cell.tabIndex = -1;
  cell.setAttribute('role', 'button');
  cell.setAttribute('aria-label', `Comment on ${cell.dataset.place}`);
  cell.focus();
}

// press goes from line to line with the arrows, and comments with Enter.
function press(event) {
  const lines = event.target.closest('.scroll');
  if (!lines) return;
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
