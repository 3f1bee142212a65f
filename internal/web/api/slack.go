package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
	"ringback/internal/people/checkpoint"
	"ringback/internal/people/notify"
	"ringback/internal/store"
)

// slackAnswer is a message that Slack shows.
type slackAnswer struct {
	// Type is the visibility: in_channel if everyone in the channel sees it, ephemeral if only the sender
	// of the command does.
	Type string `json:"response_type" jsonschema:"enum=in_channel,enum=ephemeral"`
	Text string `json:"text"` // The message, in Slack's mrkdwn.
}

// slackForm contains the fields of a Slack command that are read.
type slackForm struct {
	// Text is the rest of the command: a verb, the job or question, words.
	Text     string `json:"text,omitempty"`
	TeamID   string `json:"team_id,omitempty"`   // The id of the sender's Slack workspace.
	UserID   string `json:"user_id,omitempty"`   // The sender's id in Slack.
	UserName string `json:"user_name,omitempty"` // The sender's name in Slack.
}

// slackUser begins the names of people who decide in Slack.
const slackUser = "slack:"

// slackCommand runs a slash command. Slack's signature authenticates the request; the
// workspace controls access to the command.
func (s *Server) slackCommand(c echo.Context) error {
	body, err := io.ReadAll(http.MaxBytesReader(c.Response(), c.Request().Body, 64<<10))
	if err != nil {
		return job.Errorf(job.Invalid, "The request could not be read")
	}
	if s.opts.SlackSecret == "" {
		return job.Errorf(job.NotFound, "Slack commands are not configured").WithHint("Set SLACK_SIGNING_SECRET.")
	}
	if err := notify.VerifySlack(s.opts.SlackSecret, c.Request().Header, body, time.Now()); err != nil {
		return job.Errorf(job.Unauthorized, "Not a request from Slack: %s", err)
	}
	command, err := notify.ParseSlack(body)
	if err != nil {
		return c.JSON(http.StatusOK, slackAnswer{"ephemeral", err.Error() + "\n" + notify.SlackHelp})
	}
	if command.Verb == "help" {
		return c.JSON(http.StatusOK, slackAnswer{"ephemeral", notify.SlackHelp})
	}
	text, err := s.slackDo(c.Request().Context(), command, c.RealIP())
	if known, ok := errors.AsType[*job.Error](err); ok {
		return c.JSON(http.StatusOK, slackAnswer{"ephemeral", inSlack(known)})
	}
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, slackAnswer{"in_channel", text})
}

// slackDo runs a command and returns a description of what it did.
func (s *Server) slackDo(ctx context.Context, command notify.SlackCommand, address string) (string, error) {
	j, named, err := s.slackTarget(ctx, command)
	if err != nil {
		return "", err
	}
	given := checkpoint.Reply{
		Text: command.Text,
		By:   job.Actor{UserID: slackUser + command.TeamID + "/" + command.UserID, Via: job.ViaSlack, Address: address},
	}
	done := command.UserName + ": " + command.Verb + " " + string(j.ID)
	switch command.Verb {
	case "status":
		return "Job " + string(j.ID) + " (" + j.Kind + ") is " + string(j.State) + ".", nil
	case "cancel":
		return done, s.jobs.Cancel(ctx, j.ID, given.By)
	case "approve":
		given.Decision = job.Approve
	case "reject":
		given.Decision = job.Deny
	case "steer":
		if named == nil {
			return done, s.checkpoints.Steer(ctx, j, command.Text, given.By)
		}
		given.Decision = job.Steer
	}
	given.Iteration = command.Iteration
	if named == nil {
		named = j.Checkpoint
	}
	return done, s.slackDecide(ctx, j, named, given)
}

// slackDecide answers the question that is named, or else the one that the job waits at.
func (s *Server) slackDecide(ctx context.Context, j job.Job, asked *job.Checkpoint, given checkpoint.Reply) error {
	if asked == nil {
		return job.Errorf(job.Conflict, "The job %s is %s", j.ID, j.State).WithHint("It does not wait for a decision.")
	}
	if given.Decision == job.Approve && notify.SlackOmits(*asked, s.opts.Pages) {
		return job.Errorf(job.Conflict, "The question is too long to be shown in full in Slack").
			WithHint("Review it in the console (%s) or with: ringback approve %s", s.opts.Pages.Question(asked.ID), j.ID)
	}
	if err := s.checkRound(ctx, *asked, given.Iteration); err != nil {
		return err
	}
	given.Shown = job.ShownInText(*asked)
	_, err := s.checkpoints.Reply(ctx, *asked, given)
	return err
}

// checkRound returns a Conflict if the named round of a change was put under review before, such as before a
// retry of its job: its number does not tell which review the person has read.
func (s *Server) checkRound(ctx context.Context, asked job.Checkpoint, iteration *int) error {
	if iteration == nil {
		return nil
	}
	questions, err := s.store.Checkpoints.Asked(ctx, asked.RequestID)
	if err != nil {
		return err
	}
	for _, c := range questions {
		var props job.Props
		if c.ID != asked.ID && c.Type == job.Review && job.UnmarshalExact(c.Props, &props) == nil && props.Iteration == *iteration {
			return job.Errorf(job.Conflict, "This round of the change was submitted for review more than once").
				WithHint("Look at it, then approve the question itself: approve %s", asked.ID)
		}
	}
	return nil
}

func inSlack(e *job.Error) string {
	parts := []string{e.Message}
	for _, d := range e.Details {
		parts = append(parts, strings.TrimPrefix(d.Path, "/")+": "+d.Message)
	}
	return strings.TrimSpace(strings.Join(parts, "; ") + ". " + e.Hint)
}

// slackTarget returns the job that a command names, and the question if it names one.
func (s *Server) slackTarget(ctx context.Context, command notify.SlackCommand) (job.Job, *job.Checkpoint, error) {
	if command.CheckpointID == "" {
		p, _ := job.ParseIDPrefix(job.JobIDs, string(command.RequestID))
		found, _, err := s.store.Jobs.List(ctx, store.Query{IDs: p, Limit: 2})
		j, err := only(found, p, err)
		return j, nil, err
	}
	p, _ := job.ParseIDPrefix(job.CheckpointIDs, string(command.CheckpointID))
	found, _, err := s.store.Checkpoints.List(ctx, store.CheckpointQuery{IDs: p, Limit: 2})
	named, err := only(found, p, err)
	if err != nil {
		return job.Job{}, nil, err
	}
	j, err := s.store.Get(ctx, named.RequestID)
	return j, &named, err
}

// only returns what was found for an id or its beginning, unless that is none or several.
func only[T any](found []T, p job.IDPrefix, err error) (one T, _ error) {
	switch {
	case err != nil:
		return one, err
	case len(found) == 0:
		return one, job.Errorf(job.NotFound, "No id begins with %s", p).WithHint("It may have been removed after its retention time.")
	case len(found) > 1:
		return one, job.Errorf(job.Conflict, "Several ids begin with %s", p).WithHint("Give more characters of the id.")
	}
	return found[0], nil
}
