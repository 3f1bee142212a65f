package store

import (
	"sync/atomic"
	"time"
)

// clock is Redis' clock as this node knows it: by how much it goes before the node's own,
// as last seen. What must be right by Redis' clock is read there; this is for what is only
// shown.
type clock struct{ ahead atomic.Int64 }

// see notes what Redis' clock says now.
func (c *clock) see(now time.Time) { c.ahead.Store(int64(time.Until(now))) }

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())).UTC() }
