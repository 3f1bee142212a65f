// Stores the private path of the signed-in user (private_path.go) in this browser, for this host
// and port, so that an address without one leads there. It runs before the page is shown.
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
    // This browser stores nothing: the user signs in again.
  }
})();
