// get fetches a page, and fails if it takes too long: else one answer that never ends
// would keep a page from ever changing again.
const patience = 15_000; // ms

export function get(url) {
  return fetch(url, { headers: { Accept: 'text/html' }, signal: AbortSignal.timeout(patience) });
}
