// Package outbound says what may be called from here for whom. An address that came
// with a request is somebody else's: whoever wrote it may mean a service that this
// machine reaches and they do not. Addresses of the configuration, and those of kinds,
// are the operator's own, and nothing here is asked of them.
//
// Names are not judged, for what they resolve to can change between a look and a call.
// The address is, at the moment of the call: Control does it for our own dialers, and a
// Proxy for programs that dial for themselves, such as git and what runs in a sandbox. Repository reads how a repository is named,
// and refuses what two readers could take for two hosts; Policy says which of them a
// request may name.
package outbound
