package lifecycle

import (
	"cmp"
	"time"

	"ringback/internal/job"
	"ringback/internal/kind"
	"ringback/internal/outbound"
)

// Options say how jobs are made where their kind does not.
type Options struct {
	// CallbackTimeout is how long each turn has to call back where the kind does not say.
	CallbackTimeout time.Duration
	// Retention is how long finished jobs, events and messages are kept; default 7 days.
	Retention time.Duration
	// QueueTimeout is how long a job waits for a worker; default 24 h.
	QueueTimeout time.Duration
	// HumanTimeout is how long a checkpoint waits for a reply; default 24 h.
	HumanTimeout time.Duration
	// UserLimit is how many jobs of one user run at once, on all nodes; default 4.
	UserLimit int
	// UserQuota is how many jobs a user may have.
	UserQuota job.Quota
	// Notify are the ways by which the outside is told of jobs: TaskWebhook and
	// TaskSlack.
	Notify []TaskKind
	// ComposeFunc makes the body of a notice.
	ComposeFunc ComposeFunc
	// Structured is whether results are taken from the CLI's structured output: kinds
	// that need callbacks are refused then.
	Structured bool
	// MovedFunc is called for each job that this node has moved to another state; nil
	// for nobody. It must not block.
	MovedFunc func(Moved)
	// Repositories says which ones a request may name.
	Repositories outbound.Policy
	// KindsDir is where the prompts lie of kinds that are not part of the program, an absolute
	// path: relative paths of programs in their stored versions lead from there.
	KindsDir string
}

// Service creates, follows, steers, retries and cancels jobs. It is safe for
// concurrent use.
type Service struct {
	store Store
	kinds kinds
	opts  Options
}

// New returns the service; without kinds, jobs are made by Start only.
func New(s Store, current *kind.Registry, opts Options) *Service {
	if current == nil {
		current = new(kind.Registry)
	}
	return &Service{store: s, kinds: newKinds(current), opts: opts.withDefaults()}
}

func (o Options) withDefaults() Options {
	o.CallbackTimeout = cmp.Or(o.CallbackTimeout, 5*time.Minute)
	o.Retention = cmp.Or(o.Retention, 7*24*time.Hour)
	o.QueueTimeout = cmp.Or(o.QueueTimeout, 24*time.Hour)
	o.HumanTimeout = cmp.Or(o.HumanTimeout, 24*time.Hour)
	o.UserLimit = cmp.Or(o.UserLimit, 4)
	return o
}

// InterpretingKind is the built-in kind whose jobs say what a reply means. Nobody
// asks for such a job but the server itself.
const InterpretingKind = "reading"

// ForBackEnds is the error for a person who asks for what only back ends may do.
// what begins its sentence.
func ForBackEnds(what string) error {
	return job.Errorf(job.Forbidden, "%s is for back ends", what).WithHint("Use an API key.")
}
