// Keeps the private path of whoever is signed in (private_path.go) in this browser, for this very
// host and port, so that an address without one leads there. It runs before the page is shown.
(() => {
  const kept = 'ringback.privatePath';
  const privatePath = /^\/~[A-Z2-7]{26}(?=\/)/;
  try {
    const here = location.pathname.match(privatePath)?.[0];
    if (here) localStorage.setItem(kept, here);
    if (location.pathname !== '/sign-in') return;
    const asked = new URLSearchParams(location.search);
    const own = localStorage.getItem(kept);
    const next = asked.get('next') ?? '/';
    if (asked.has('ended')) localStorage.removeItem(kept);
    else if (own && privatePath.test(`${own}/`) && /^\/(?![/\\])/.test(next)) location.replace(own + next);
  } catch {
    // Nothing is kept in this browser: one signs in again.
  }
})();
