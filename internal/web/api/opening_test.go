package api_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"ringback/internal/job"
	"ringback/internal/job/price"
	"ringback/internal/rules/kind"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/internal/web/api"
	"ringback/test/must"
)

// No request opens a job beyond a quota, or at a budget at which its kind fails: each is refused
// with 429 and the limit, and changes nothing.
func TestNoRequestOpensAJobBeyondALimit(t *testing.T) {
	t.Parallel()
	const failing = "---\non_budget: fail\n---\nDo it."
	for name, c := range map[string]struct {
		prompt string
		rules  lifecycle.Options
		names  string
		// ofUser is true if the limit is for jobs of all kinds, byDay if it ends with the day, and
		// retries if it does not count retries.
		ofUser, byDay, retries bool
	}{
		"jobs of a user at once": {"Do it.", lifecycle.Options{UserQuota: job.Quota{AtOnce: 1}}, "1 jobs of this user have not ended, and a user may have 1 at once (JOBS_PER_USER_AT_ONCE)", true, false, false},
		"jobs of a user a day":   {"Do it.", lifecycle.Options{UserQuota: job.Quota{PerDay: 2}}, "2 jobs were created for this user today, and a user may have 2 a day (JOBS_PER_USER_PER_DAY)", true, true, true},
		"jobs of a kind at once": {"---\njobs_at_once: 1\n---\nDo it.", lifecycle.Options{}, `1 jobs of the kind "limited" have not ended, and there may be 1 at once (jobs_at_once)`, false, false, false},
		"jobs of a kind a day":   {"---\njobs_per_day: 2\n---\nDo it.", lifecycle.Options{}, `2 jobs of the kind "limited" were created today, and there may be 2 a day (jobs_per_day)`, false, true, true},
		"a user's budget":        {failing, lifecycle.Options{Budgets: job.Spending{User: price.Dollar}}, "The budget of its user for today (UTC) is used up: 2.00 USD of 1.00 USD", false, true, false},
		"the server's budget":    {failing, lifecycle.Options{Budgets: job.Spending{Server: price.Dollar}}, "The budget of the server for today (UTC) is used up: 2.00 USD of 1.00 USD", false, true, false},
		"a kind's budget":        {"---\non_budget: fail\nbudget_usd_per_day: 1\n---\nDo it.", lifecycle.Options{}, "The budget of its kind for today (UTC) is used up: 2.00 USD of 1.00 USD", false, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, embedded := storetest.InProcess(t, store.Options{})
			storetest.SetTimeOfDay(t, embedded.Client, storetest.Noon)
			s := serve(t, db, kind.Source{Prompts: fstest.MapFS{"limited.md": {Data: []byte(c.prompt)}}}, c.rules, api.Options{})
			ended := s.create("", "limited", "u1")
			must.OK(t, s.jobs.Cancel(t.Context(), ended, job.Actor{}))
			limited := object{"kind": "limited", "userId": "u1", "input": object{}}
			s.wants(http.StatusAccepted, "", "POST", "/api/jobs", limited)
			must.Get(db.Spending.Book(t.Context(), ended, 1, store.Booking{Used: job.Metered{Cost: 2 * price.Dollar}}))(t)
			state := func() string {
				chat, _ := json.Marshal(s.as("", "GET", "/api/sessions/s-u1/messages?userId=u1", nil).Body) //nolint:errchkjson // it was JSON
				jobs, _ := json.Marshal(s.as("", "GET", "/api/jobs", nil).Body)                             //nolint:errchkjson // it was JSON
				return string(chat) + string(jobs)
			}
			before := state()
			path := "/api/jobs/" + string(ended)
			for door, body := range map[string]object{
				"/api/jobs":        limited,
				"/hitl/runs":       {"prompt": "Do it.", "user_id": "u1", "agent_tool_config": object{"kind": "limited"}},
				"/api/suggestions": {"userId": "u1", "dateRangeStart": "2026-03-02", "dateRangeEnd": "2026-03-02"},
				"/to-llm":          {"userId": "u1", "sessionId": "s-u1", "content": "Go on"},
				path + "/retry":    nil,
				path + "/move":     nil,
				"/api/jobs/bulk":   {"action": "retry", "requestIds": []job.ID{ended}},
			} {
				isRetry := strings.HasSuffix(door, "/retry") || door == "/api/jobs/bulk"
				if isRetry && c.retries || door == "/api/suggestions" && !c.ofUser {
					continue
				}
				a := s.as("", "POST", door, body)
				answer, _ := json.Marshal(a.Body) //nolint:errchkjson // it was JSON
				status, said := http.StatusTooManyRequests, c.names
				switch door {
				case path + "/move":
					status, said = http.StatusConflict, "The job is cancelled"
				case "/api/jobs/bulk":
					status = http.StatusOK
				}
				quoted, _ := json.Marshal(said) //nolint:errchkjson // a text
				if a.Status != status || !strings.Contains(string(answer), strings.Trim(string(quoted), `"`)) {
					t.Errorf("%s was answered %d %s", door, a.Status, answer)
				}
				if after, _ := strconv.Atoi(a.Header.Get("Retry-After")); status == http.StatusTooManyRequests && (after < 1 || (after > 60*60) != c.byDay) {
					t.Errorf("%s may be repeated after %d s", door, after)
				}
			}
			must.Equal(t, before, state())
			if a := s.as("", "POST", path+"/retry", nil); c.retries && a.Status != http.StatusOK {
				t.Errorf("a retry was answered %d %v", a.Status, a.Body)
			}
		})
	}
}
