// Package attack tries to get in, from outside: over HTTP and by processes, as an
// attacker would. Each file is one class of attack, and each attack has many spellings.
package attack
