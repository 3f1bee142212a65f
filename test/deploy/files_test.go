package deploy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"ringback/test/must"
)

// documentsOf returns the documents of a YAML file of deploy/.
func documentsOf(t *testing.T, name string) (all []object) {
	t.Helper()
	for text := range strings.SplitSeq(shipped(t, name), "\n---\n") {
		var document object
		must.OK(t, yaml.UnmarshalWithOptions([]byte(text), &document, yaml.Strict()), name)
		all = append(all, document)
	}
	return all
}

// find returns the values at a path of keys; * stands for all keys or entries.
func find(value any, path ...string) (found []any) {
	if len(path) == 0 {
		return []any{value}
	}
	switch value := value.(type) {
	case object:
		for key, one := range value {
			if key == path[0] || path[0] == "*" {
				found = append(found, find(one, path[1:]...)...)
			}
		}
	case []any:
		for _, one := range value {
			if path[0] == "*" {
				found = append(found, find(one, path[1:]...)...)
			}
		}
	}
	return found
}

// Wherever it is deployed from these files, a server that cannot confine its jobs does not start.
func TestNoDeploymentRunsJobsUnconfined(t *testing.T) {
	t.Parallel()
	compose := documentsOf(t, "compose.yaml")[0]
	var pods []any
	for _, document := range documentsOf(t, "kubernetes.yaml") {
		pods = append(pods, find(document, "spec", "template", "spec")...)
	}
	for name, has := range map[string]bool{
		"the image":      strings.Contains(shipped(t, "Dockerfile"), "SANDBOX=require"),
		"the unit":       strings.Contains(shipped(t, "ringback.service"), "Environment=SANDBOX=require "),
		"each container": len(find(compose, "services", "*", "environment", "SANDBOX")) == 2 && !slices.ContainsFunc(find(compose, "services", "*", "environment", "SANDBOX"), func(v any) bool { return v != "require" }),
		"each pod":       slices.ContainsFunc(find(pods, "*", "containers", "*", "env", "*"), func(v any) bool { return v.(object)["name"] == "SANDBOX" && v.(object)["value"] == "require" }),
	} {
		must.Equal(t, true, has, name+" requires the sandbox")
	}
	for _, entry := range must.Get(os.ReadDir("../../deploy"))(t) {
		for line := range strings.Lines(shipped(t, entry.Name())) {
			code, _, _ := strings.Cut(line, "#")
			for _, word := range []string{"privileged: true", "--privileged", "seccomp=unconfined", "apparmor=unconfined", "Unconfined", "SYS_ADMIN"} {
				must.NotContain(t, code, word, entry.Name())
			}
		}
	}
}

// Nothing in these containers is root, and nothing becomes it.
func TestContainersHaveNoPrivileges(t *testing.T) {
	t.Parallel()
	for name, service := range documentsOf(t, "compose.yaml")[0]["services"].(object) {
		must.Equal(t, []any{[]any{"ALL"}}, find(service, "cap_drop"), name)
		must.Equal(t, true, slices.Contains(find(service, "security_opt", "*"), any("no-new-privileges:true")), name, "gains no privileges")
	}
	for _, document := range documentsOf(t, "kubernetes.yaml") {
		for _, pod := range find(document, "spec", "template", "spec") {
			must.Equal(t, []any{false}, find(pod, "hostUsers"))
			must.Equal(t, []any{true}, find(pod, "securityContext", "runAsNonRoot"))
			must.Equal(t, []any{false}, find(pod, "automountServiceAccountToken"))
			for _, container := range find(pod, "containers", "*") {
				must.Equal(t, []any{false}, find(container, "securityContext", "allowPrivilegeEscalation"))
				must.Equal(t, []any{[]any{"ALL"}}, find(container, "securityContext", "capabilities", "drop"))
			}
		}
	}
}

// What the document names of deploy/ is there, and all of deploy/ is documented.
func TestEachFileIsDocumented(t *testing.T) {
	t.Parallel()
	text := string(must.Get(os.ReadFile("../../docs/how-to/deploy.md"))(t))
	for _, entry := range must.Get(os.ReadDir("../../deploy"))(t) {
		if name := entry.Name(); !strings.HasPrefix(name, ".") && name != "secrets" && filepath.Ext(name) != ".dockerignore" {
			must.Contain(t, text, "deploy/"+name)
		}
	}
}
