package server

import (
	"cmp"
	"fmt"

	"ringback/internal/server/config"
	"ringback/internal/web/guard"
	"ringback/internal/web/hub"
)

// budget divides this process's file descriptors.
func budget(c config.Config) guard.Budget {
	return guard.DivideDescriptors(guard.Descriptors(), c.Workers, c.WebSockets)
}

// webSocketLimits returns the node's limits on WebSockets. By default neither a user nor
// an address can take all of them.
func webSocketLimits(c config.Config) hub.Limits {
	all := budget(c).WebSockets
	return hub.Limits{
		Node: all, User: cmp.Or(c.WebSocketsPerUser, max(1, all/2)), Address: cmp.Or(c.WebSocketsPerAddr, max(1, all*3/4)),
	}
}

// fewWebSockets is the number below which a low limit of open files causes a warning.
const fewWebSockets = 100

// checkDescriptors warns if the system gives a node few descriptors.
func checkDescriptors(c config.Config) []string {
	most := budget(c).WebSockets
	if most >= fewWebSockets || c.WebSockets > 0 && most >= c.WebSockets {
		return nil
	}
	return []string{fmt.Sprintf(
		"The limit of open files is %d, which is room for %d WebSockets besides callbacks and %d workers: raise it (ulimit -n, LimitNOFILE=)",
		guard.Descriptors(), most, c.Workers)}
}
