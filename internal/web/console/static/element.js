// element makes an element with properties and children.
export function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

// ownElement makes one that belongs to the page itself: updates do not touch it.
export function ownElement(...of) {
  const made = element(...of);
  made.dataset.own = '';
  return made;
}
