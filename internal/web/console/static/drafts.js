// Keeps drafts: in the session storage, so that they survive a reload, and on the page if their
// form is gone.
import { element, ownElement } from './element.js';
import { isChanged } from './morph.js';
import { commentOn } from './comments.js';
import { privatePath } from './private-path.js';
import { questionAt } from './question.js';

const prefix = () => `draft ${document.body.dataset.user ?? ''} `;
const own = (path) => path.slice(privatePath.length); // drafts outlast the private path
const place = (form) => `${prefix()}${own(form.getAttribute('action'))} ${form.id} ${form.dataset.keep}`;
const forms = 'form[data-keep][method="post"]';
const beside = (form) => form.querySelector('[data-beside]') ?? {}; // the question next to which the text is written
const controls = (form) => [...form.elements].filter((control) => control.name && !['hidden', 'submit', 'button', 'file', 'password'].includes(control.type) && !control.closest('[data-live]'));

// stored returns what a function returns for the storage. Access to it fails if it is full or disabled:
// then only the forms have the drafts, and all else works.
function stored(act, otherwise) {
  try {
    return act(sessionStorage);
  } catch {
    return otherwise;
  }
}

function save(form) {
  const changed = controls(form).filter(isChanged);
  const values = changed.map(({ name, value, type, checked }) => ({ name, value, type, checked }));
  if (!values.length) {
    forget(form);
    const { dataset } = beside(form);
    if (dataset?.beside) beside(form).value = dataset.beside; // what is written next is about that one
    return;
  }
  const draft = JSON.stringify({ page: own(location.pathname), values, beside: beside(form).value });
  stored((all) => all.setItem(place(form), draft));
}

export const forget = (form) => stored((all) => all.removeItem(place(form)));

const read = (name) => stored((all) => JSON.parse(all.getItem(name)), null);

// restore fills in a form from its draft.
function restore(form) {
  const draft = read(place(form));
  if (draft && !('filled' in form.dataset)) beside(form).value = draft.beside ?? '';
  for (const { name, value, type, checked } of draft?.values ?? []) {
    if (name.startsWith('comment:')) commentOn(name.slice('comment:'.length));
    const choice = type === 'radio' || type === 'checkbox';
    const control = controls(form).find((one) => one.name === name && (!choice || one.value === value));
    if (!control) continue;
    if (choice ? control.checked === checked : isChanged(control)) continue; // it is filled in already
    if (choice) control.checked = checked;
    else control.value = value;
    const folded = control.closest('details');
    if (folded) folded.open = true; // nothing is sent that the page does not show
  }
}

// written returns the texts of a draft.
const written = (draft) => (draft?.values ?? []).filter(({ value, type }) => type.startsWith('text') && value.trim());

// keep shows a draft below an element that explains why it can no longer be sent.
function keep(name, behind) {
  const texts = written(read(name));
  if (!texts.length) return;
  const title = 'What you had written';
  const areas = texts.map(({ name: control, value }) => {
    const ariaLabel = control.startsWith('comment:') ? control.slice('comment:'.length) : title;
    return element('textarea', { readOnly: true, rows: Math.min(8, value.split('\n').length + 1), dir: 'auto', value, ariaLabel });
  });
  const button = element('button', { type: 'button', className: 'button' }, 'Throw it away');
  const block = ownElement('div', { className: 'kept' }, element('p', { className: 'label' }, title), ...areas, button);
  button.onclick = () => {
    stored((all) => all.removeItem(name));
    block.remove();
  };
  behind.append(block);
}

// closed returns the closed question of a form, which names the person who has answered.
async function closed(action) {
  if (!action.startsWith('/inbox/')) return null;
  try {
    const article = await questionAt(action);
    if (!article || article.querySelector('form')) return null;
    article.dataset.own = '';
    return article;
  } catch {
    return null;
  }
}

// without finds the forms with drafts that a new page no longer has. It returns a function that
// puts the texts in the forms' places, to be called once the page has changed.
export async function without(page) {
  const gone = [...document.querySelectorAll(forms)].filter((form) => {
    const there = page.getElementById(form.id)?.getAttribute('action');
    return there !== form.getAttribute('action') && written(read(place(form))).length;
  });
  const puts = await Promise.all(gone.map(async (form) => {
    const name = place(form);
    const outer = form.closest('[data-question]') ?? form;
    if (outer !== form && page.getElementById(outer.id)) return () => keep(name, document.getElementById(outer.id));
    const behind = following(outer);
    const panel = await closed(own(form.getAttribute('action'))) ?? ownElement('section', { className: 'panel' }, 'This can be sent no more.');
    return () => {
      keep(name, panel);
      const next = behind.find((one) => one.isConnected);
      if (next) next.before(panel);
      else document.getElementById('main').append(panel);
    };
  }));
  return () => puts.forEach((put) => put());
}

// following returns the elements after one.
function following(element) {
  const all = [];
  for (let one = element.nextElementSibling; one; one = one.nextElementSibling) all.push(one);
  return all;
}

// restoreAll fills in all forms from their drafts.
export function restoreAll() {
  for (const form of document.querySelectorAll(forms)) restore(form);
}

// drafts restores drafts, and saves new ones.
export function drafts() {
  restoreAll();
  for (const type of ['input', 'change']) {
    document.addEventListener(type, ({ target: { form } }) => { if (form?.matches?.(forms)) save(form); });
  }
  document.querySelector('form.who')?.addEventListener('submit', () => stored((all) => all.clear()));
  void showOrphans();
}

// showOrphans shows the drafts of this page that have no form any more.
async function showOrphans() {
  for (const name of stored(Object.keys, []).filter((one) => one.startsWith(prefix()))) {
    const draft = read(name);
    const [action, id] = name.slice(prefix().length).split(' ');
    if (draft?.page !== own(location.pathname) || document.getElementById(id)?.getAttribute('action') === privatePath + action) continue;
    const article = id.startsWith('form-') && document.getElementById(id.replace('form-', 'q-'));
    if (article) {
      if (!article.querySelector('form, .kept')) keep(name, article);
      continue;
    }
    const panel = written(draft).length && await closed(action);
    if (!panel) continue; // the question is still open, on another page
    keep(name, panel);
    document.getElementById('main').append(panel);
  }
}
