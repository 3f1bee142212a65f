// The private path of whoever is signed in (private_path.go), which all pages lie below;
// empty where nobody has to sign in.
export const privatePath = location.pathname.match(/^\/~[A-Z2-7]{26}(?=\/)/)?.[0] ?? '';
