// Stores the private path of the signed-in user (private_path.go) in this browser, for this host
// and port, so that an address without one leads there. It runs before the page is shown.
(() => {
  const { pathname } = new URL(document.currentScript.src);
  const here = pathname.slice(0, pathname.lastIndexOf('/static/'));
  const privatePath = /\/~[A-Z2-7]{26}$/;
  const mount = here.replace(privatePath, ''); // below which a proxy serves the console
  const kept = `ringback.privatePath${mount}`;
  try {
    if (here !== mount) localStorage.setItem(kept, here);
    if (location.pathname !== `${mount}/sign-in`) return;
    const asked = new URLSearchParams(location.search);
    const own = localStorage.getItem(kept);
    const next = asked.get('next') ?? '/';
    if (asked.has('ended')) localStorage.removeItem(kept);
    else if (own && privatePath.test(own) && own.replace(privatePath, '') === mount && /^\/(?![/\\])/.test(next)) location.replace(own + next);
  } catch {
    // This browser stores nothing: the user signs in again.
  }
})();
