package rig

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
)

// Gated is a job of a gated kind for which the test plays Claude.
type Gated struct {
	T        testing.TB
	N        *Node
	ID, Runs string
	Envelope harness.Object
}

// GatedKind creates a kind with one action that records each of its runs in a file, so that
// they can be counted from outside.
func GatedKind(t testing.TB, extra string) (prompts, runs string) {
	t.Helper()
	runs = filepath.Join(t.TempDir(), "runs")
	return KindsDir(t, "gated.md", fmt.Sprintf(`---
actions:
  - name: deploy
    title: Deploy
    question: 'Deploy "{{input.name}}"?'
    input:
      type: object
      required: [name]
      properties: {name: {type: string}, size: {type: integer}, nested: {type: object}}
    yes: {label: 'Yes, Deploy', message: 'Yes, please proceed with deploying "{{input.name}}".'}
    no: {label: 'No, Cancel', message: 'No, I don''t want to deploy right now.'}
    command: [sh, -c, 'cat >> %[1]s; echo >> %[1]s; echo working; printf "{\"message\":\"Deployed\",\"nextSteps\":[\"Call it a day\"]}"']
%[2]s
---
Deploy.`, runs, extra)), runs
}

// Ran counts the recorded runs of a gated kind's action.
func Ran(t testing.TB, runs string) int {
	t.Helper()
	text, err := os.ReadFile(runs)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}

// Say replies in the chat and waits until the job continues.
func (g *Gated) Say(text string) {
	g.T.Helper()
	g.N.Say(g.T, "s1", text)
	g.N.Renew(g.T, g.Envelope)
}

func (g *Gated) Another() (string, harness.Object) {
	g.T.Helper()
	return g.N.Manual(g.T, harness.Object{"kind": "gated", "input": harness.Object{}, "userId": "u1", "sessionId": "s1"})
}

// Call calls the action; it returns the response and its status field.
func (g *Gated) Call(input any, confirmed bool) (string, harness.Object) {
	g.T.Helper()
	body := With(g.Envelope, harness.Object{"input": input})
	if confirmed {
		body["confirmed"] = true
	}
	status, answer := g.N.Do(g.T, "POST", "/api/claude/actions/deploy", body)
	if status != http.StatusOK {
		return strconv.Itoa(status), answer
	}
	return answer["status"].(string), answer
}

// Ask is call without waiting for the response, which it sends to the channel.
func (g *Gated) Ask(input any, confirmed bool) <-chan harness.Object {
	answers := make(chan harness.Object, 1)
	go func() {
		_, answer := g.Call(input, confirmed)
		answers <- answer
	}()
	return answers
}

// AwaitEnd waits until the job has ended, in any state.
func (g *Gated) AwaitEnd() {
	g.T.Helper()
	must.Eventually(g.T, "the job to end", func() bool {
		return g.N.Want(g.T, 200, "GET", "/api/jobs/"+g.ID, nil)["finishedAt"] != nil
	})
}
