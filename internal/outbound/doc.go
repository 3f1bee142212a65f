// Package outbound decides which addresses may be called, and on whose behalf. An address
// in a request is untrusted: its author may mean a service that this machine can reach and
// they cannot. Addresses in the configuration and in kinds are the operator's own, and are
// not checked here.
//
// Checking a name is not enough, because what it resolves to can change before the call.
// The address is checked at the moment of the call: by Control for our own dialers, and by
// a Proxy for programs that make their own connections, such as git and what runs in a
// sandbox. ParseRepository parses the address of a repository, and rejects one that two
// parsers could read as different hosts; Policy decides which repositories a request may
// name.
package outbound
