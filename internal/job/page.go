package job

import (
	"net/url"
	"strings"
)

// Pages is the address at which people reach the console, such as https://example.com/ringback. If it is
// empty, links are paths, which the console completes.
type Pages string

// Job returns the page of a job, or one below it.
func (p Pages) Job(id ID, below string) string {
	return string(p) + "/jobs/" + url.PathEscape(string(id)) + below
}

// Question returns the page of a question.
func (p Pages) Question(id CheckpointID) string {
	return string(p) + "/inbox/" + url.PathEscape(string(id))
}

// File returns the address of a file that a job made; the API has it below /api.
func (p Pages) File(id ID, name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return p.Job(id, "/files/"+strings.Join(parts, "/"))
}
