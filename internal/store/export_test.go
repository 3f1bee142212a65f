package store

import (
	"context"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
)

// Move moves a job with nothing else around it, through what every script moves it
// through.
func (s *Store) Move(ctx context.Context, id job.ID, to job.State, phase job.Phase) error {
	p, _ := partitionOfID(id)
	move := redis.NewScript(readLua("event") + stateMachine() + readLua("lib") + `
local j = load_job(ARGV[1])
if j.state == ARGV[2] then change_phase(j, ARGV[3]) else become(j, ARGV[2], ARGV[3]) end
return 'ok'`)
	_, err := s.run(ctx, move, p, string(id), string(to), string(phase))
	return err
}

// JobKey is where a job's record is kept.
func JobKey(id job.ID) string {
	p, _ := partitionOfID(id)
	return p.key("job", string(id))
}
