package store

// groups has the methods of a Store by subject. What lifecycle needs for its decisions is the Store's own.
type groups struct {
	Jobs        Jobs
	Calls       Calls
	Changes     Changes
	Checkpoints Checkpoints
	Chats       Chats
	SignIns     SignIns
	Nodes       Nodes
	Queue       Queue
	Tasks       Tasks
	Deadlines   Deadlines
	Limits      Limits
	Events      Events
	Transcripts Transcripts
	Spending    Spending
}

type (
	// Jobs lists and counts jobs.
	Jobs struct{ s *Store }
	// Calls has what Claude's callbacks and actions read and write.
	Calls struct{ s *Store }
	// Changes has the diffs, logs and rounds of code changes, and what people have viewed.
	Changes struct{ s *Store }
	// Checkpoints has the questions to people, and what they have allowed.
	Checkpoints struct{ s *Store }
	// Chats has the messages of chats.
	Chats struct{ s *Store }
	// SignIns has the sealed keys and tokens of signed-in people.
	SignIns struct{ s *Store }
	// Nodes has the servers, and the turns that each owns.
	Nodes struct{ s *Store }
	// Queue has the jobs that wait for a worker.
	Queue struct{ s *Store }
	// Tasks has what transitions have left to do elsewhere, with the notifications of webhooks and Slack.
	Tasks struct{ s *Store }
	// Deadlines has what is due at a time.
	Deadlines struct{ s *Store }
	// Limits has the limits of Claude's accounts that were reached.
	Limits struct{ s *Store }
	// Events has what people follow: events, and text while Claude writes it.
	Events struct{ s *Store }
	// Transcripts has what Claude printed, and its conversations.
	Transcripts struct{ s *Store }
	// Spending has what was spent, by day, user and kind.
	Spending struct{ s *Store }
)

func groupsOf(s *Store) groups {
	return groups{
		Jobs{s},
		Calls{s},
		Changes{s},
		Checkpoints{s},
		Chats{s},
		SignIns{s},
		Nodes{s},
		Queue{s},
		Tasks{s},
		Deadlines{s},
		Limits{s},
		Events{s},
		Transcripts{s},
		Spending{s},
	}
}
