package hub

import (
	"bytes"
	"net"
	"sync"
)

// gatherLimit is the number of bytes after which gathered frames are written.
const gatherLimit = 32 << 10

// writeFrames writes frames with as few system calls as possible.
func writeFrames(to net.Conn, frames []*frame) error {
	if len(frames) == 1 {
		_, err := to.Write(frames[0].bytes)
		return err
	}
	var gathered bytes.Buffer
	for i, f := range frames {
		gathered.Write(f.bytes)
		if gathered.Len() < gatherLimit && i < len(frames)-1 {
			continue
		}
		if _, err := to.Write(gathered.Bytes()); err != nil {
			return err
		}
		gathered.Reset()
	}
	return nil
}

// noBuffers stops the library from allocating a write buffer for each connection.
var noBuffers sync.Pool
