// What the address of each page begins with, and so that of this file: the path below which a proxy
// serves the console, and the private path of the signed-in user (private_path.go), if there are any.
const { pathname } = new URL(import.meta.url);
export const privatePath = pathname.slice(0, pathname.lastIndexOf('/static/'));
export const signInPath = privatePath.replace(/\/~[A-Z2-7]{26}$/, '') + '/sign-in';
