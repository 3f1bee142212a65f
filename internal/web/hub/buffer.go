package hub

import (
	"bytes"
	"net"
	"sync"
)

// buffers are borrowed only during a write, so that an idle connection holds none.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// gatherLimit is the number of bytes after which gathered frames are written.
const gatherLimit = 32 << 10

// writeFrames writes frames with as few system calls as possible.
func writeFrames(to net.Conn, frames []*frame) error {
	if len(frames) == 1 {
		_, err := to.Write(frames[0].bytes)
		return err
	}
	gathered := buffers.Get().(*bytes.Buffer)
	defer func() {
		gathered.Reset()
		if gathered.Cap() <= 2*gatherLimit { // a rare large frame must not stay in the pool
			buffers.Put(gathered)
		}
	}()
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
