// get fetches a page, and fails if it takes too long: otherwise one response that never ends
// would block all later updates.
const patience = 15_000; // ms

export function get(url) {
  return fetch(url, { headers: { Accept: 'text/html' }, signal: AbortSignal.timeout(patience) });
}

export const parse = (text) => new DOMParser().parseFromString(text, 'text/html');
