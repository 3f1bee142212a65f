// Follows the events of the page's user or job. After any event, the page fetches itself and
// updates what has changed, so missed events do not matter.
import { change, changes } from './change.js';
import { get, parse } from './get.js';
import { privatePath, signInPath } from './private-path.js';
import { end, write } from './writing.js';

const calm = 150; // ms for which events are collected
const pause = 2000; // ms before a failed fetch is repeated
let fetching = false;
let again = false;
let timer;
let due = Infinity;

// refresh fetches the page, shows whether that was possible, and updates this page to match it. A page that
// follows no events, such as a form with faults, stays as it is.
export async function refresh() {
  if (fetching) {
    again = true;
    return;
  }
  fetching = true;
  try {
    const before = changes;
    const answer = await get(location.href);
    const page = parse(await answer.text());
    if (answer.redirected && new URL(answer.url).pathname === signInPath && document.body.dataset.watch) {
      location.assign(answer.url);
      return;
    }
    if (answer.status >= 500 || !isOurs(page)) throw new Error('the server is away');
    away(false);
    if (changes !== before) again = true; // this page may be older than the one shown since
    else if (document.body.dataset.watch && (answer.ok || answer.status === 404)) await change(page);
  } catch {
    away(true);
  } finally {
    fetching = false;
    if (again) {
      again = false;
      soon();
    }
  }
}

// soon fetches the page after a while, also if events never pause.
function soon(wait = calm) {
  const at = performance.now() + wait;
  if (at >= due) return;
  due = at;
  clearTimeout(timer);
  timer = setTimeout(() => { due = Infinity; refresh(); }, wait);
}

// away shows whether the server is away. If so, the page is fetched until it is not: the event that caused
// the fetch may have been the last one.
export function away(is) {
  document.getElementById('away').hidden = !is;
  if (is) soon(pause);
}

// isOurs reports whether a page is one of the console's, and not that of a proxy.
export const isOurs = (page) => Boolean(page.getElementById('main'));

// follow keeps a WebSocket open as long as the page is.
export function follow() {
  const { watch, job } = document.body.dataset;
  if (!watch) return;
  let wait = 250;
  let behind = true; // something may have happened since the page was rendered
  const connect = () => {
    const url = new URL(`${privatePath}/ws`, location.href);
    url.protocol = url.protocol.replace('http', 'ws');
    url.searchParams.set('userId', watch);
    if (job && watch !== '*') {
      url.searchParams.set('requestId', job);
      url.searchParams.set('text', 'true');
    }
    const socket = new WebSocket(url, ['ringback']);
    socket.onopen = () => {
      wait = 250;
      if (behind) refresh();
      behind = false;
    };
    socket.onmessage = (message) => {
      const event = JSON.parse(message.data);
      if (!event.event) return;
      if (event.event.endsWith(':text')) {
        write(event.data);
        return;
      }
      if (event.event.endsWith(':message')) end(event.data.message);
      if (document.hidden && !event.event.includes('checkpoint')) {
        again = true; // fetched when the page becomes visible
        return;
      }
      soon();
    };
    socket.onclose = (closed) => {
      behind = true;
      if (closed.code === 4401) {
        location.reload(); // which asks to sign in
        return;
      }
      if (closed.code === 4400 || closed.code === 4403) return;
      refresh(); // whether the server is away, only a fetch tells: a proxy may pass no WebSockets
      setTimeout(connect, wait + Math.random() * wait);
      wait = Math.min(wait * 2, 10000);
    };
  };
  connect();
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden && again) {
      again = false;
      soon();
    }
  });
}

// retry reloads a page that could not be shown, once the server can show it.
export function retry() {
  if (!document.querySelector('[data-again]')) return;
  setTimeout(async () => {
    const answer = await get(location.href).catch(() => null);
    if (answer?.status < 500) location.reload();
    else retry();
  }, 3000);
}
