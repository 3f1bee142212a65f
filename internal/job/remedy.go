package job

// remedies describe what to do about a job that ended with each code. docs/how-to/find-out.md has
// the same texts, with links.
var remedies = map[Code]string{
	CodeCallbackTimeout: "Look at the transcript: does Claude work, wait, or fail to call back? If it works, give the kind more time.",
	CodeQueueTimeout:    "Raise WORKERS or add machines, unless Claude was at a limit.",
	CodeHumanTimeout:    "Have Slack notify people of open questions, then retry the job.",
	CodeNoCallback:      "The transcript shows Claude's output instead. Correct the prompt, or raise max_turns.",
	CodeInvalidResult:   "The message names the fields. Retry, or correct the prompt.",
	CodeCrashed:         "The message and the transcript have its last output.",
	CodeSpawnFailed:     "ringback check tries to start it and shows what is wrong.",
	CodeGaveUp:          "The message is Claude's reason. Ask again with changes.",
	CodeBudget:          "Raise the kind's max_budget_usd, or ask for less.",
	CodeBudgetExceeded:  "Raise the budget that the message names; at a budget of the day a job may also wait (on_budget).",
	CodeStalled:         "The message states whether Claude or a tool hung; the transcript has its last line. If a tool needs longer, raise the kind's tool_timeout.",
	CodeOutputLimit:     "Look for repetitions in the transcript.",
	CodeUsageLimit:      "The job continues by itself when the account's usage is available again.",
	CodeRateLimit:       "The job continues by itself. If it happens often, lower WORKERS.",
	CodeOverloaded:      "The job continues by itself. CLAUDE_FALLBACK_MODEL names a model for such times.",
	CodeSignedOut:       "ringback check shows whether the CLI is signed in. Jobs continue by themselves once it is.",
	CodeWorkspace:       "The message has git's error. Look at which repositories a request may name.",
	CodeFinalize:        "The message names the repository and the reason. Correct it, then retry.",
	CodeKindGone:        "Ask for a new job.",
	CodeNoCallbacks:     "Set USE_CALLBACK_CLAUDE to true.",
	CodeCancelled:       "The audit log names the person who ended it.",
	CodeRejected:        "The audit log names the person and the reason.",
}

// Remedy returns what to do about a code; "" if it is unknown.
func (c Code) Remedy() string { return remedies[c] }
