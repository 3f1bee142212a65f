// Comments on lines of a change: they go along with what the next round is asked for.
function open(cell) {
  const { place } = cell.dataset;
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
    label.append(field);
    list.append(label);
    cell.closest('tr').classList.add('commented');
  }
  field.focus();
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
    open(cell);
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

function arm() {
  const patches = document.querySelector('[data-comments]');
  if (!patches || armed.has(patches)) return;
  armed.add(patches);
  patches.addEventListener('click', (event) => {
    const cell = event.target.closest('[data-place]');
    if (cell) open(cell);
  });
  patches.addEventListener('keydown', press);
}

export function comments() { arm(); }
comments.now = arm;
