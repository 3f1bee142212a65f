// Follows the events of whom the page is about: whatever happens, the page fetches itself
// and changes what has changed. Which events were missed does not matter then.
import { morph } from './morph.js';

const calm = 150; // ms that events are gathered for
let fetching = false;
let again = false;
let timer;

// refresh fetches the page and changes this one to it.
async function refresh(done) {
  if (fetching) {
    again = true;
    return;
  }
  fetching = true;
  try {
    const answer = await fetch(location.href, { headers: { Accept: 'text/html' }, redirect: 'follow' });
    if (answer.redirected && new URL(answer.url).pathname === '/sign-in') {
      location.assign(answer.url);
      return;
    }
    if (answer.ok || answer.status === 404) {
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      await keepClosed(page);
      document.title = page.title;
      for (const id of ['nav', 'main']) {
        const now = document.getElementById(id);
        const then = page.getElementById(id);
        if (now && then) morph(now, then);
      }
      done(page);
    }
    away(answer.status >= 500);
  } catch {
    away(true);
  } finally {
    fetching = false;
    if (again) {
      again = false;
      soon(done);
    }
  }
}

// keepClosed keeps the questions of the list that have been answered meanwhile, as they are
// then: whoever was about to answer sees by whom.
async function keepClosed(page) {
  const list = page.getElementById('questions');
  if (!list) return;
  let before = null;
  for (const question of document.querySelectorAll('#questions > [data-question]')) {
    let there = page.getElementById(question.id);
    if (!there) {
      there = question.querySelector('.closed') ? question.cloneNode(true) : await closed(question);
      if (!there) continue;
      list.querySelector('.empty')?.remove();
      if (before) before.after(there);
      else list.prepend(there);
    }
    before = there;
  }
}

async function closed(question) {
  const answer = await fetch(`/inbox/${question.id.slice(2)}`, { headers: { Accept: 'text/html' } });
  if (!answer.ok) return null;
  return new DOMParser().parseFromString(await answer.text(), 'text/html').getElementById(question.id);
}

function soon(done) {
  clearTimeout(timer);
  timer = setTimeout(() => refresh(done), calm);
}

function away(is) {
  document.getElementById('away').hidden = !is;
}

// follow keeps a WebSocket open as long as the page is.
export function follow(done) {
  const { watch, job } = document.body.dataset;
  if (!watch) return;
  let wait = 250;
  let behind = true; // something may have happened since the page was rendered
  const connect = () => {
    const url = new URL('/ws', location.href);
    url.protocol = url.protocol.replace('http', 'ws');
    url.searchParams.set('userId', watch);
    if (job && watch !== '*') url.searchParams.set('requestId', job);
    const socket = new WebSocket(url, ['ringback']);
    socket.onopen = () => {
      wait = 250;
      if (behind) refresh(done);
      behind = false;
      away(false);
    };
    socket.onmessage = (message) => {
      const event = JSON.parse(message.data);
      if (!event.event) return;
      if (document.hidden && !event.event.includes('checkpoint')) {
        again = true; // fetched when the page is looked at
        return;
      }
      soon(done);
    };
    socket.onclose = (closed) => {
      behind = true;
      if (closed.code === 4401) {
        location.reload(); // which asks to sign in
        return;
      }
      if (closed.code === 4400 || closed.code === 4403) return;
      away(closed.code !== 4008);
      setTimeout(connect, wait + Math.random() * wait);
      wait = Math.min(wait * 2, 10000);
    };
  };
  connect();
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden && again) {
      again = false;
      soon(done);
    }
  });
}
