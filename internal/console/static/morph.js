// Changes one element to be like another, keeping what is the same: so that focus, open
// parts and the place that is scrolled to stay. What is marked data-keep is somebody's
// input: it stays as it is as long as it is there at all.
export function morph(now, then) {
  if (now.isEqualNode(then)) return;
  attributes(now, then);
  const byId = new Map();
  for (const child of now.children) if (child.id) byId.set(child.id, child);
  let at = now.firstChild;
  for (const wanted of [...then.childNodes]) {
    const same = wanted.id ? byId.get(wanted.id) : alike(at, wanted) ? at : null;
    if (!same) {
      now.insertBefore(wanted.cloneNode(true), at);
      continue;
    }
    if (same === at) at = at.nextSibling;
    else now.insertBefore(same, at);
    if (same.nodeType === Node.TEXT_NODE) {
      if (same.data !== wanted.data) same.data = wanted.data;
    } else if (!kept(same)) morph(same, wanted);
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

// kept reports whether somebody is filling an element in.
function kept(element) {
  if (!element.hasAttribute?.('data-keep')) return false;
  if (element.contains(document.activeElement)) return true;
  return [...element.querySelectorAll('textarea, input, select')].some((input) =>
    input.type === 'radio' || input.type === 'checkbox'
      ? input.checked !== input.defaultChecked
      : 'defaultValue' in input && input.value !== input.defaultValue);
}

function alike(a, b) {
  return a && !a.id && a.nodeType === b.nodeType && a.nodeName === b.nodeName;
}

// marks are classes that the page gives itself: what was chosen with the keyboard, and which
// lines are commented.
const marks = ['chosen', 'commented'];

function attributes(now, then) {
  if (!now.getAttributeNames) return;
  const marked = marks.filter((mark) => now.classList.contains(mark));
  for (const name of now.getAttributeNames()) {
    if (!then.hasAttribute(name) && !(name === 'open' && now.tagName === 'DETAILS') && name !== 'hidden' && now !== document.activeElement) now.removeAttribute(name);
  }
  for (const name of then.getAttributeNames()) {
    const value = then.getAttribute(name);
    if (now.getAttribute(name) !== value && !(name === 'open' && now.tagName === 'DETAILS')) now.setAttribute(name, value);
  }
  if (marked.length) now.classList.add(...marked);
  if (now.tagName === 'PROGRESS') now.value = then.value;
}
