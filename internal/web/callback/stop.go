package callback

import (
	"cmp"

	"ringback/internal/rules/lifecycle"
	"ringback/internal/turn/claude"
)

// mostTasks limits the background tasks in the message to Claude.
const mostTasks = 10

// stops answers the CLI when Claude ends its turn. Without a result, Claude gets a message about
// what is missing, in the same process. A turn that waits for a person, or has reported that it
// cannot do the job, gets none.
func (h *Handler) stops(in *call, body toolCallBody) (hookAnswer, error) {
	k, err := h.kindOf(in)
	if err != nil {
		return hookAnswer{}, err
	}
	words, offered, err := h.offer(in, 0, lifecycle.Step{})
	if err != nil {
		return hookAnswer{}, err
	}
	blocked, err := h.jobs.BlockStop(in.ctx, in.id, k.Policy.Blocks())
	if err != nil || !blocked && words == "" {
		return hookAnswer{}, err
	}
	missing := ""
	if blocked {
		_, details, err := k.Accept(map[string]any{}, nil)
		if err != nil {
			return hookAnswer{}, err
		}
		if missing, err = claude.Missing(k, details, openTasks(body.BackgroundTasks)); err != nil {
			return hookAnswer{}, err
		}
	}
	return h.addContext(in, claude.Stop, words+missing, offered), nil
}

// openTasks describes the background tasks that still run.
func openTasks(tasks []map[string]any) (open []string) {
	for _, task := range tasks[:min(mostTasks, len(tasks))] {
		id, _ := task["id"].(string)
		command, _ := task["command"].(string)
		description, _ := task["description"].(string)
		open = append(open, id+": "+cmp.Or(command, description))
	}
	return open
}
