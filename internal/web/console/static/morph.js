// Changes one element to match another and keeps the parts that are the same, so that focus,
// open parts and scroll positions stay. A form that the user is filling in is kept, except for
// its parts marked data-live, as long as the other element has it. A control marked data-beside
// identifies the question next to which a text is written: it is kept once something is written.
// Its attribute then has the one that the page shows.
// Elements marked data-own were added by the page itself and are kept.
export function morph(now, then, added = () => {}) {
  if (now.isEqualNode(then)) return;
  attributes(now, then);
  const all = [...then.childNodes];
  const wanted = new Set(all.map(key).filter(Boolean));
  const byKey = new Map();
  for (const child of now.childNodes) if (key(child) && !own(child)) byKey.set(key(child), child);
  let at = theirs(now.firstChild);
  for (const one of all) {
    const same = key(one) ? byKey.get(key(one)) : alike(at, one) ? at : null;
    if (!same) {
      const made = now.insertBefore(one.cloneNode(true), at);
      if (made.nodeType === Node.ELEMENT_NODE) added(made);
      continue;
    }
    // Remove old elements first: an element that is moved would lose the focus.
    while (at && at !== same && !wanted.has(key(at))) at = remove(at);
    if (same === at) at = theirs(at.nextSibling);
    else now.insertBefore(same, at);
    if (same.nodeType === Node.TEXT_NODE) {
      if (same.data !== one.data) same.data = one.data;
    } else if (!isKept(same)) morph(same, one, added);
    else for (const live of same.querySelectorAll('[data-live], [data-beside]')) {
      const there = one.querySelector(`#${live.id}`);
      if (there && 'beside' in live.dataset && isFilled(same)) live.dataset.beside = there.value;
      else if (there) morph(live, there, added);
    }
  }
  while (at) at = remove(at);
}

function remove(node) {
  const next = theirs(node.nextSibling);
  node.remove();
  return next;
}

const own = (node) => 'own' in (node.dataset ?? {});

// theirs returns the node, or the next one that the page has not added itself.
function theirs(node) {
  while (node && own(node)) node = node.nextSibling;
  return node;
}

// key identifies an element among its siblings: the same form with another action is another
// element. A control named id may hide a form's id property, so the attribute is read.
function key(node) {
  const id = node.getAttribute?.('id');
  return id ? id + (node.matches('[data-keep]') ? ` ${node.getAttribute('action')}` : '') : '';
}

function alike(a, b) {
  return a && !key(a) && a.nodeType === b.nodeType && a.nodeName === b.nodeName;
}

// isKept reports whether the user is filling in an element, or it contains input that the server
// has refused.
function isKept(element) {
  if (!element.hasAttribute?.('data-keep')) return false;
  return element.contains(document.activeElement) || isFilled(element);
}

const isFilled = (form) => 'filled' in form.dataset || [...form.elements].some(isChanged);

// isChanged reports whether the value of a control differs from its default.
export function isChanged(control) {
  switch (control.type) {
    case 'radio': case 'checkbox': return control.checked !== control.defaultChecked;
    case 'select-one': {
      const first = [...control.options].find((option) => option.defaultSelected) ?? control.options[0];
      return control.value !== (first?.value ?? '');
    }
    default: return 'defaultValue' in control && control.type !== 'hidden' && control.value !== control.defaultValue;
  }
}

// marks are classes that the page itself sets: the row chosen with the keyboard, and lines with
// comments.
const marks = ['chosen', 'commented'];

function attributes(now, then) {
  if (!now.getAttributeNames) return;
  const marked = marks.filter((mark) => now.classList.contains(mark));
  // The page itself decides what is open, hidden or padded.
  const isOwn = (name) => name === 'hidden' || name === 'style' || (name === 'open' && now.tagName === 'DETAILS');
  for (const name of now.getAttributeNames()) {
    if (!then.hasAttribute(name) && !isOwn(name) && now !== document.activeElement) now.removeAttribute(name);
  }
  for (const name of then.getAttributeNames()) {
    const value = then.getAttribute(name);
    if (now.getAttribute(name) !== value && !isOwn(name)) now.setAttribute(name, value);
  }
  if (marked.length) now.classList.add(...marked);
  if (now.tagName === 'PROGRESS') now.value = then.value;
}
