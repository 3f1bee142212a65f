// Package attack attacks the server from outside, over HTTP and with processes. Each file
// is one class of attack, and each attack has many spellings.
package attack
