// Sends a form without leaving the page: if it is refused, or the server is away, the input is
// kept.
import { change } from './change.js';
import { element } from './element.js';
import { parse } from './get.js';
import { morph } from './morph.js';
import { forget } from './drafts.js';
import { steadily } from './steady.js';
import { away, isOurs, refresh } from './live.js';
import { choose, place } from './keys.js';

export function sending() {
  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (event.defaultPrevented || !form.matches('form[data-keep][method="post"]')) return;
    event.preventDefault();
    if (!('sending' in form.dataset)) void send(form, event.submitter);
  });
}

async function send(form, submitter) {
  const data = new URLSearchParams(new FormData(form));
  if (submitter?.name) data.append(submitter.name, submitter.value);
  form.dataset.sending = '';
  try {
    const answer = await fetch(form.getAttribute('action'), { method: 'POST', body: data, headers: { Accept: 'text/html' } });
    const page = parse(await answer.text());
    if (answer.redirected && isOurs(page)) await taken(form, answer.url, page);
    else refused(form, page, answer);
  } catch {
    away(true);
    say(form, ['The server is away, and may have taken this. Nothing is lost: send it again when it is back, unless the page shows it.']);
  } finally {
    delete form.dataset.sending;
  }
}

const isThere = (form, page) => page.getElementById(form.id)?.getAttribute('action') === form.getAttribute('action');

// taken shows the page that the answer leads to.
async function taken(form, url, page) {
  forget(form);
  form.reset();
  delete form.dataset.filled;
  const { pathname, search } = new URL(url);
  if (pathname + search !== location.pathname + location.search) {
    location.assign(url);
    return;
  }
  const at = document.activeElement;
  const row = form.closest('#questions > [data-question]');
  const before = row ? place(row) : -1;
  at?.blur(); // the form is no longer being filled in
  if (!isThere(form, page)) (form.closest('#questions > [data-question]') ?? form).remove();
  await change(page);
  if (form.matches('.say')) scrollTo({ top: document.body.scrollHeight });
  if (at?.isConnected) at.focus({ preventScroll: true });
  else if (before >= 0) choose(before); // the next question has taken its place
  if (row) tell('The answer was taken.');
}

let shown;

// tell shows a short confirmation.
function tell(words) {
  const status = document.getElementById('done');
  status.textContent = words;
  clearTimeout(shown);
  shown = setTimeout(() => { status.textContent = ''; }, 4000);
}

// refused shows what is wrong, or the form with the requested rows.
function refused(form, page, answer) {
  const article = page.querySelector('[data-question]:not(:has(form))');
  if (isThere(form, page)) {
    const there = page.getElementById(form.id);
    there.querySelector('#comments')?.replaceChildren(); // they are still at their lines
    steadily(() => {
      morph(form, there);
      for (const { id } of there.querySelectorAll('details[open][id]')) document.getElementById(id).open = true; // what is wrong may be in it
      for (const control of form.elements) if (!control.closest('[data-own]')) settle(control);
    });
    if (!answer.ok) focusFault(form);
  } else if (article) { // the question is closed: show by whom, and the draft
    article.dataset.own = '';
    forget(form);
    steadily(() => (form.closest('[data-question]') ?? form).replaceWith(article));
    void refresh();
  } else if (page.getElementById('patches')) { // there is another round
    forget(form);
    form.remove();
    void change(page);
  } else say(form, faultsOf(page, answer));
}

// settle sets a control to its default.
function settle(control) {
  if (control.type === 'radio' || control.type === 'checkbox') control.checked = control.defaultChecked;
  else if (control.tagName === 'SELECT') for (const option of control.options) option.selected = option.defaultSelected;
  else if ('defaultValue' in control) control.value = control.defaultValue;
}

function faultsOf(page, answer) {
  const refusal = page.getElementById('refusal');
  if (!refusal) return [`The server answered ${answer.status}, and may have taken this. Nothing is lost: send it again, unless the page shows it.`];
  return [...refusal.querySelectorAll('h1, li, h1 ~ p:not(.buttons)')].map((one) => one.textContent).concat([...refusal.querySelectorAll('a')].slice(0, 1));
}

// say shows at a form why it was not accepted.
function say(form, faults) {
  form.dataset.filled = '';
  steadily(() => {
    form.querySelector(':scope > .faults')?.remove();
    form.prepend(element('ul', { className: 'faults', role: 'alert' }, ...faults.map((fault) => element('li', {}, fault))));
  });
  focusFault(form);
}

function focusFault(form) {
  const fault = form.querySelector('[aria-invalid], .faults');
  if (!fault) return;
  const folded = fault.closest('details');
  if (folded) folded.open = true;
  if (fault.matches('.faults')) fault.tabIndex = -1;
  fault.focus();
}
