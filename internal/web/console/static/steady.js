// Keeps what the reader looks at in place while the page changes, and announces new content
// out of sight.
const main = () => document.getElementById('main');
const top = () => document.querySelector('.bar').getBoundingClientRect().bottom;
const bottom = () => Math.min(document.querySelector('.say')?.getBoundingClientRect().top || innerHeight, innerHeight);
const attention = 30_000; // ms for which a pointer position counts after a move
let pointedAt = -attention;
addEventListener('pointermove', () => { pointedAt = performance.now(); }, { passive: true });
let space = 0; // px of padding that replace content removed above

// steadily runs change without moving what the reader looks at. change calls its argument
// with each element that it adds.
export function steadily(change) {
  const held = anchors().map((element) => ({ element, at: element.getBoundingClientRect().top }));
  const questions = [...document.querySelectorAll('[data-question]')].filter((one) => one.querySelector('form'));
  const heights = questions.map((question) => question.getBoundingClientRect().height);
  const added = [];
  document.documentElement.classList.add('changing'); // turns off the browser's own scroll anchoring
  change((element) => added.push(element));
  questions.forEach((question, i) => {
    if (!question.querySelector('form')) question.style.minHeight = `${heights[i]}px`; // keep buttons below in place: the reader may be about to press one
  });
  const anchor = held.find(({ element }) => element.isConnected);
  if (anchor) move(anchor.element.getBoundingClientRect().top - anchor.at);
  requestAnimationFrame(() => document.documentElement.classList.remove('changing'));
  tell(added);
}

// anchors returns what the reader looks at, the innermost element first: the element that has
// the focus, is selected or pointed at, or else the middle of the page. A list that is watched
// from its top has no anchors.
function anchors() {
  const selection = getSelection();
  const pointed = performance.now() - pointedAt < attention && [...document.querySelectorAll('#main :hover')].pop();
  const chosen = [document.activeElement, selection.isCollapsed ? null : selection.anchorNode?.parentElement, pointed].find((element) => isRead(element) && isSeen(element));
  if (!chosen && 'follow' in main().dataset && scrollY === 0) return [];
  return outwards(chosen ?? middle());
}

function middle() {
  for (const share of [0.4, 0.5, 0.3, 0.6, 0.25]) {
    const found = document.elementFromPoint(innerWidth / 2, top() + (bottom() - top()) * share);
    if (isRead(found)) return found;
  }
  return [...main().children].findLast((child) => isRead(child) && isSeen(child));
}

// isRead reports whether an element is part of the content, and not of the form below it,
// which does not move.
const isRead = (element) => element && element !== main() && main().contains(element) && !element.closest('.say');

function isSeen(element) {
  const { top: from, bottom: to } = element.getBoundingClientRect();
  return to > top() && from < innerHeight;
}

function outwards(element) {
  const all = [];
  for (let one = element; one && one !== main(); one = one.parentElement) all.push(one);
  return all;
}

// move scrolls by as much as the page has moved, and adds padding if there is no room.
function move(by) {
  if (Math.abs(by) < 1) return;
  const missing = Math.max(0, -(scrollY + by));
  const used = by > 0 ? Math.min(space, by) : 0;
  space += missing - used;
  main().style.paddingTop = space ? `calc(var(--gap) + ${space}px)` : '';
  const goal = scrollY + by + missing - used;
  document.body.style.minHeight = `${goal + innerHeight}px`;
  scrollTo({ top: goal, behavior: 'instant' });
}

// The padding above is removed once it is out of sight.
addEventListener('scroll', () => {
  if (!space || scrollY < space) return;
  const goal = scrollY - space;
  space = 0;
  main().style.paddingTop = '';
  scrollTo({ top: goal, behavior: 'instant' });
}, { passive: true });

let target; // the new content that the button leads to

// look hides the button once its target is in sight, or gone.
function look() {
  if (!target) return;
  const { top: at } = target.getBoundingClientRect();
  if (target.isConnected && (at < top() || at >= bottom())) return;
  target = null;
  document.getElementById('newer').hidden = true;
}
addEventListener('scroll', look, { passive: true });

// tell shows a button that leads to new content out of sight. The reader's own messages do not
// count as new.
function tell(added) {
  look();
  const news = added.filter((element) => element.isConnected && element.matches('[data-row], .message:not(.mine), .events > li, main > section[id], main > form[id]') && !element.matches('.say'));
  const above = news.find((element) => element.getBoundingClientRect().top < top());
  const found = above ?? news.find((element) => element.getBoundingClientRect().top >= bottom());
  if (!found) return;
  target = found;
  const button = document.getElementById('newer');
  button.textContent = target === above ? 'New above ↑' : 'New below ↓';
  button.hidden = false;
  button.onclick = () => found.scrollIntoView({ block: found.clientHeight > bottom() - top() ? 'start' : 'center' });
}
