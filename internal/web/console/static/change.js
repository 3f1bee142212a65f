// Updates the page to match a fetched one: drafts are kept, and what the reader looks at does not
// move.
import { morph } from './morph.js';
import { without } from './drafts.js';
import { questionAt } from './question.js';
import { steadily } from './steady.js';

const after = [];

// changes counts the pages that this page was updated to match.
export let changes = 0;

// afterwards registers a function that is called whenever the page has changed.
export function afterwards(act) { after.push(act); }

export async function change(page) {
  changes++;
  await keepClosed(page);
  const put = await without(page);
  document.title = page.title;
  steadily((added) => {
    for (const id of ['nav', 'main']) {
      const now = document.getElementById(id);
      const then = page.getElementById(id);
      if (now && then) morph(now, then, added);
    }
    put();
  });
  for (const act of after) act(page);
}

// keepClosed keeps questions in the list that have just been answered, in their closed form: a
// reader who was about to answer sees by whom, and does not press a button of another question.
async function keepClosed(page) {
  const list = page.getElementById('questions');
  if (!list) return;
  let before = null;
  for (const question of document.querySelectorAll('#questions > [data-question]')) {
    let there = page.getElementById(question.id);
    if (!there) {
      // A question that is being answered here changes once the server has responded.
      const stays = question.querySelector('.closed, [data-sending]');
      there = stays ? question.cloneNode(true) : await questionAt(`/inbox/${question.id.slice(2)}`);
      if (!there) continue;
      for (const own of there.querySelectorAll('[data-own]')) own.remove();
      list.querySelector('.empty')?.remove();
      if (before) before.after(there);
      else list.prepend(there);
    }
    before = there;
  }
}
