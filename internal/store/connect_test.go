package store_test

import (
	"strings"
	"testing"

	"ringback/internal/store"
)

// A password that splits the URL is not shown, nor is a part of it taken for a host or a port.
func TestPasswordsThatSplitTheURL(t *testing.T) {
	t.Parallel()
	for _, password := range []string{"first/0@second", "first?second", "first#second", "12/34", "12?34=5", "12#34", "12/#34", "%zz12", "12 34", "[12", "1:2/3"} {
		for _, at := range []string{"redis://u:" + password + "@127.0.0.1:9", "rediss://:" + password + "@a,b?master_name=m"} {
			client, err := store.Connect(at)
			if err == nil {
				_ = client.Close()
				t.Errorf("%s is taken for a URL", at)
				continue
			}
			for part := range strings.FieldsFuncSeq(password, func(r rune) bool { return strings.ContainsRune("/?#@%:[ =", r) }) {
				if len(part) > 1 && strings.Contains(err.Error(), part) {
					t.Errorf("%s: the error shows %s: %v", at, part, err)
				}
			}
		}
	}
}
