package outbound

import (
	"net/url"
	"strconv"
)

// IsWebAddress reports whether a text is a whole http or https URL.
func IsWebAddress(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	_, err = strconv.ParseUint(u.Port(), 10, 16)
	return u.Port() == "" || err == nil
}
