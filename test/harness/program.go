package harness

import (
	"os"
	"syscall"
	"testing"

	"ringback/test/must"
)

// AnswersVersion is the line with which a shell script that plays the CLI responds to
// --version.
const AnswersVersion = `[ "$1" = --version ] && { echo '2.1.0 (Claude Code)'; exit; }` + "\n"

// AnswersTrial is the line with which a shell script that plays the CLI passes a trial start.
const AnswersTrial = `case $PWD in */jobs/trial_*) echo '{"type":"system","subtype":"init"}'; exit;; esac` + "\n"

// CallsBack is the beginning of a shell script that plays the CLI: value prints a setting of its
// prompt, and post sends fields to a callback, again while no server responds.
const CallsBack = `prompt=$(cat)
echo '{"type":"system","subtype":"init"}'
value() { sed -n "s/^- $1: //p" <<<"$prompt" | tail -1; }
post() {
  curl -sS -X POST "$(value CALLBACK_BASE_URL)/api/claude/$1" -H 'Content-Type: application/json' --retry 50 --retry-delay 1 \
    --retry-connrefused -d "{\"requestId\":\"$(value REQUEST_ID)\",\"hmac\":\"$(value HMAC_SIGNATURE)\",$2}" >&2
}
`

// SubmitsChange is the end of a shell script that plays the CLI for a code change. Like the
// simulated Claude, it appends the request to a file in each repository, and submits.
const SubmitsChange = "\n" + AnswersVersion + CallsBack + `wish=$(sed -n '/What the reviewer wants:$/ { n; n; n; p }; s/^  "prompt": "\(.*\)",*$/\1/p' <<<"$prompt" | tail -1)
for repository in */; do echo "- $wish" >> "$repository/SIMULATED.md"; done
post result '"summary":"simulated"'
echo '{"type":"result","subtype":"success","is_error":false,"result":"Done."}'
`

// WriteProgram writes an executable file. It blocks forks while it writes: a forked child
// would briefly inherit the open file, and executing it would fail with ETXTBSY.
func WriteProgram[T string | []byte](t testing.TB, path string, text T) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	must.OK(t, os.WriteFile(path, []byte(text), 0o755))
}
