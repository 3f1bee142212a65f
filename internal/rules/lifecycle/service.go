package lifecycle

import (
	"cmp"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"ringback/internal/job"
	"ringback/internal/outbound"
	"ringback/internal/rules/kind"
)

// Options are the settings for jobs that do not come from their kind.
type Options struct {
	// CallbackTimeout is the time limit for a callback, for each turn, if the kind does not set
	// one; default 5 minutes.
	CallbackTimeout time.Duration
	// Retention is the time that finished jobs, events and messages are stored; default 7 days.
	Retention time.Duration
	// QueueTimeout is the maximum wait for a worker; default 24 h.
	QueueTimeout time.Duration
	// HumanTimeout is the time limit for a reply to a checkpoint; default 24 h.
	HumanTimeout time.Duration
	// NodeTimeout is the time that a node may be silent; default 30 s.
	NodeTimeout time.Duration
	// UserLimit is the maximum number of jobs of one user that run at once, on all nodes; default
	// 4.
	UserLimit int
	// UserQuota limits the jobs of a user.
	UserQuota job.Quota
	// Budgets are the daily budgets of each user and of all jobs.
	Budgets job.Spending
	// Notify lists the channels for notifications about jobs: TaskWebhook and TaskSlack.
	Notify []TaskKind
	// ComposeFunc composes the body of a notice.
	ComposeFunc ComposeFunc
	// Structured is true if results come from the CLI's structured output. Kinds that need
	// callbacks are then rejected.
	Structured bool
	// StateChangedFunc, if set, is called for each job whose state this node has changed. It must
	// not block.
	StateChangedFunc func(StateChange)
	// ConcludedFunc, if set, is called for each outcome that this node has recorded. It must not block.
	ConcludedFunc func(Conclusion)
	// Repositories decides which repositories a request may name.
	Repositories outbound.Policy
	// KindsDir is the directory of the prompts of kinds that are not built in, an absolute path.
	// Relative paths of programs in their stored versions are resolved against it.
	KindsDir string
}

// Service creates, follows, steers, retries and cancels jobs. It is safe for concurrent use.
type Service struct {
	store Store
	// currentKinds are for new jobs, and earlierKinds are versions that jobs still use.
	currentKinds atomic.Pointer[kind.Registry]
	earlierKinds *lru.Cache[string, *kind.Kind]
	opts         Options
}

// New returns the service. If current is nil, only Start can create jobs.
func New(s Store, current *kind.Registry, opts Options) *Service {
	if current == nil {
		current = new(kind.Registry)
	}
	earlier, err := lru.New[string, *kind.Kind](maxEarlier)
	if err != nil {
		panic("lifecycle: " + err.Error()) // the size is a positive constant
	}
	service := &Service{store: s, earlierKinds: earlier, opts: opts.withDefaults()}
	service.SetKinds(current)
	return service
}

func (o Options) withDefaults() Options {
	o.CallbackTimeout = cmp.Or(o.CallbackTimeout, 5*time.Minute)
	o.Retention = cmp.Or(o.Retention, 7*24*time.Hour)
	o.QueueTimeout = cmp.Or(o.QueueTimeout, 24*time.Hour)
	o.HumanTimeout = cmp.Or(o.HumanTimeout, 24*time.Hour)
	o.NodeTimeout = cmp.Or(o.NodeTimeout, 30*time.Second)
	o.UserLimit = cmp.Or(o.UserLimit, 4)
	return o
}

// InterpretingKind is the built-in kind for jobs that interpret replies. Only the server itself
// creates such jobs.
const InterpretingKind = "reading"

// ForBackEnds returns the error for a person's request that only back ends may make. what begins
// its message.
func ForBackEnds(what string) error {
	return job.Errorf(job.Forbidden, "%s is for back ends", what).WithHint("Use an API key.")
}
