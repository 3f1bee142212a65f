package job

// remedies describe what to do about a job that ended with each code. docs/how-to/find-out.md has
// the same texts, with links.
var remedies = map[Code]string{
	CodeCallbackTimeout: "Look at the transcript: does Claude work, wait, or try to call back in vain? If it works, give the kind more time.",
	CodeQueueTimeout:    "Raise WORKERS or add machines, unless Claude was at a limit.",
	CodeHumanTimeout:    "Look at the inbox in time: let Slack tell of it. Then try again.",
	CodeNoCallback:      "The transcript has what Claude said instead. Mend the prompt, or raise max_turns.",
	CodeInvalidResult:   "The message names the fields. Try again, or mend the prompt.",
	CodeCrashed:         "The message and the transcript have its last words.",
	CodeSpawnFailed:     "ringback check tries to start it and says what is wrong.",
	CodeGaveUp:          "The message is Claude's reason. Ask again with changes.",
	CodeBudget:          "Raise the kind's max_budget_usd, or ask for less.",
	CodeBudgetExceeded:  "Raise the budget that the message names; at a budget of the day a job may also wait (on_budget).",
	CodeStalled:         "The message says whether Claude or a tool hung; the transcript has its last line. If a tool needs longer, raise the kind's tool_timeout.",
	CodeOutputLimit:     "Look at the transcript for what repeats.",
	CodeUsageLimit:      "The job continues by itself when the account's usage is available again.",
	CodeRateLimit:       "The job continues by itself. If it happens often, lower WORKERS.",
	CodeOverloaded:      "The job continues by itself. CLAUDE_FALLBACK_MODEL names a model for such times.",
	CodeSignedOut:       "ringback check says whether the CLI is signed in. Jobs go on by themselves once it is.",
	CodeWorkspace:       "The message has git's words. Look at which repositories a request may name.",
	CodeFinalize:        "The message says which repository and why. Once that is put right, try again.",
	CodeKindGone:        "Ask for a new job.",
	CodeNoCallbacks:     "Set USE_CALLBACK_CLAUDE to true.",
	CodeCancelled:       "The audit log says who ended it.",
	CodeRejected:        "The audit log says who said no, and why.",
}

// Remedy returns what to do about a code; "" if it is unknown.
func (c Code) Remedy() string { return remedies[c] }
