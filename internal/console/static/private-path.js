// The private path of the signed-in user (private_path.go), which begins the address of each
// page; empty if no sign-in is needed.
export const privatePath = location.pathname.match(/^\/~[A-Z2-7]{26}(?=\/)/)?.[0] ?? '';
