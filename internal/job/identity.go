package job

import "time"

// Identity is the owner of a key or token.
type Identity struct {
	// UserID is the user; empty for a back end, which acts for any user.
	UserID string
	// Key is the name of a back end's key.
	Key string
	// Until is the expiry time of the credential; zero for never.
	Until time.Time
}
