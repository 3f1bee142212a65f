package job

import (
	"fmt"
	"time"
)

// StoreFormat is the format of a store, and what of an upgrade is left to do.
type StoreFormat struct {
	Format int `json:"format"` // The format in which servers write.
	Newest int `json:"newest"` // The newest format that this version writes.
	Oldest int `json:"oldest"` // The oldest format of which records may be left.
	// FinishesAt is when the store moves to the newest format by itself; absent if it does not.
	FinishesAt time.Time     `json:"finishesAt,omitzero"`
	Servers    []StoreServer `json:"servers"`   // The servers that use the store.
	Older      []OlderForm   `json:"older"`     // What was found in an older form.
	Rewritten  bool          `json:"rewritten"` // True if that was rewritten.
}

// StoreServer is a server that uses a store.
type StoreServer struct {
	Name   string `json:"name"`   // Its host and address.
	Format int    `json:"format"` // The format in which it writes.
	Reads  int    `json:"reads"`  // The newest format that it reads.
}

// String describes the server, for people.
func (s StoreServer) String() string { return fmt.Sprintf("%s (format %d)", s.Name, s.Reads) }

// OlderForm is something that is stored in a form of an older format.
type OlderForm struct {
	Form  string `json:"form"`  // What it is, in words.
	Count int    `json:"count"` // How many there are.
}

// StoreStep is what to do about the format of a store.
type StoreStep string

// The steps.
const (
	CheckStore    StoreStep = "check"   // report what is left to do
	FinishUpgrade StoreStep = "finish"  // move it to the newest format
	MigrateStore  StoreStep = "migrate" // rewrite what is in an older form
)
