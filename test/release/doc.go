// Package release tests what make release builds: it is the same each time, it can be installed, and it works.
package release
