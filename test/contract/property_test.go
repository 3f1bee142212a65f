package contract

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ringback/test/harness"
)

var (
	seed  = flag.Uint64("seed", 1, "which requests are sent; the same number sends the same")
	count = flag.Int("requests", 500, "how many requests are sent")
)

// prober sends requests that are generated from the contract.
type prober struct {
	*session
	generator
	// id and sign are those of a job for which the test plays Claude; checkpoints and jobs
	// contain existing ids.
	id          string
	sign        object
	jobs        []any
	checkpoints []any
	// outcomes counts the requests by request and outcome.
	outcomes map[string]int
}

// The answers to allowed and forbidden requests are in the contract; no forbidden request is
// accepted, and none causes a 500.
func TestRequestsMadeOfTheContract(t *testing.T) {
	t.Parallel()
	s := newSession(t, harness.Start(t, harness.Vars{"HOLD": "0s", "WORKERS": "2", "PROMPTS_DIR": ownKinds(t)}, nil))
	p := &prober{session: s, generator: generator{rand.New(rand.NewPCG(*seed, 1)), s.http}, outcomes: map[string]int{}}
	t.Logf("go test ./test/contract -run TestRequestsMadeOfTheContract -seed %d sends the same", *seed)
	var names []string
	for name := range s.http.operations {
		if name != "connect" && name != "slackCommand" { // they need more than the contract describes, see the scenario
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for i := range *count {
		if i%25 == 0 {
			p.look()
		}
		p.probe(names[i%len(names)])
		if t.Failed() && i > 50 {
			break
		}
	}
	for _, want := range []string{"allowed 200", "allowed 202", "allowed 404", "forbidden 400"} {
		if p.outcomes[want] < *count/200 {
			t.Errorf("hardly anything was %s: %v", want, p.outcomes)
		}
	}
	t.Log(p.outcomes)
}

// look creates a job and a question, and collects existing ids.
func (p *prober) look() {
	switch p.IntN(3) {
	case 0:
		p.id, p.sign = p.manual("meal-suggestions", meals)
	case 1:
		p.id, p.sign = p.manual("ship", object{"prompt": "Ship it"})
	case 2:
		p.id, p.sign = p.manual("tooled", object{})
	}
	p.jobs = append(p.jobs, p.id)
	p.send(call{op: "ask", body: p.signed(object{"type": "information_request", "message": "Which?"})})
	for _, c := range p.want(http.StatusOK, call{op: "listCheckpoints"})["checkpoints"].([]any) {
		p.checkpoints = append(p.checkpoints, c.(object)["id"])
	}
}

func (p *prober) signed(payload object) object {
	all := maps.Clone(payload)
	maps.Copy(all, p.sign)
	return all
}

// probe sends one request, allowed or forbidden by the contract.
func (p *prober) probe(name string) {
	op := p.http.operations[name]
	c := call{op: name, path: p.path(op)}
	if name == "mcp" && p.IntN(4) > 0 {
		c.header = overMCP(p.sign)
	}
	var isAllowed bool
	c.query, isAllowed = p.query(op)
	if schema := p.bodySchema(op); schema != nil {
		if body, made := p.allowed(schema); made {
			c.body = p.adapted(name, body.(object))
			if isAllowed && p.IntN(2) == 0 {
				if broken, made := p.forbidden(schema, c.body); made {
					c.body, isAllowed = broken, false
				}
			}
		}
	}
	status, _ := p.send(c)
	verdict := "allowed"
	if !isAllowed {
		verdict = "forbidden"
		if status < http.StatusBadRequest {
			p.Errorf("%s took with %d what the contract forbids: %v %s", name, status, c.query, long.ReplaceAllString(fmt.Sprint(c.body), "…"))
		}
	}
	p.outcomes[fmt.Sprint(verdict, " ", status)]++
}

// long matches texts that would clutter a failure's output.
var long = regexp.MustCompile(`w{20,}|x{20,}`)

// adapted makes a request more likely to succeed: it uses existing ids, and starts no program.
func (p *prober) adapted(name string, body object) object {
	if _, has := body["requestId"]; has && p.IntN(4) > 0 {
		body = p.signed(body)
	}
	if name == "createJob" {
		body["options"] = object{"simulate": "manual"}
	}
	return body
}

func (p *prober) bodySchema(op operation) any {
	body, _ := op.def["requestBody"].(object)
	content, _ := body["content"].(object)
	entry, _ := content["application/json"].(object)
	return entry["schema"]
}

// path fills in the path's parameters, mostly with existing ids.
func (p *prober) path(op operation) object {
	known := map[string][]any{
		"requestId": p.jobs, "runId": p.jobs, "checkpointId": p.checkpoints, "sessionId": {"s1"}, "kind": {"ship", "media"}, "action": {"deployToShipperCloud"},
	}
	values := object{}
	for _, match := range parameter.FindAllStringSubmatch(op.path, -1) {
		name := match[1]
		values[name] = words[p.IntN(len(words))]
		if list := known[name]; len(list) > 0 && p.IntN(4) > 0 {
			values[name] = p.pick(list)
		}
		if name == "path" {
			values[name] = url.PathEscape(strings.Trim(values[name].(string), "./"))
		}
	}
	return values
}

// query generates parameters, and reports whether all of them are allowed.
func (p *prober) query(op operation) (url.Values, bool) {
	values, isAllowed := url.Values{}, true
	parameters, _ := op.def["parameters"].([]any)
	for _, entry := range parameters {
		parameter := entry.(object)
		if parameter["in"] != "query" || p.IntN(3) > 0 {
			continue
		}
		schema := p.document.resolve(parameter["schema"])
		value, _ := p.allowed(schema)
		text := fmt.Sprint(value)
		if broken := p.brokenParameter(schema); broken != "" && p.IntN(3) == 0 {
			text, isAllowed = broken, false
		}
		values.Set(parameter["name"].(string), text)
	}
	return values, isAllowed
}

// brokenParameter returns a text that a parameter does not allow; empty if it allows all.
func (p *prober) brokenParameter(schema object) string {
	switch {
	case schema["type"] == "integer":
		return []string{"-1", "x", "1e3", "99999999999999999999", strconv.Itoa(number(schema, "maximum", 0) + 1)}[p.IntN(5)]
	case schema["enum"] != nil, schema["format"] != nil, schema["pattern"] != nil:
		return []string{"none-of-these", "-1", "\u202e", " "}[p.IntN(4)]
	}
	return ""
}
