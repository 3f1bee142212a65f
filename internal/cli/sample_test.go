package cli_test

import "fmt"

const sampleID = "req_07_abc"

// sampleJob is a job's record in a state, with more fields.
func sampleJob(state, more string) string {
	return fmt.Sprintf(`{"requestId":%q,"kind":"meal-suggestions","userId":"u1","sessionId":"s1","status":%q,`+
		`"input":{"dateRangeStart":"2026-03-02"},"turn":1,"usage":{"inputTokens":1200,"outputTokens":340,"costUsd":0.0125},`+
		`"createdAt":"2026-03-01T10:00:00Z","updatedAt":"2026-03-01T10:00:42.5Z"%s}`, sampleID, state, more)
}

const (
	finished  = `,"finishedAt":"2026-03-01T10:00:42.5Z"`
	mealsJSON = `{"suggestions":[` +
		`{"date":"2026-03-02","mealType":"dinner","recipe":{"name":"Lentil soup","prepMinutes":10,"cookMinutes":25,` +
		`"ingredients":[{"name":"red lentils"},{"name":"onion"},{"name":"carrot"},{"name":"cumin"}]},"accepted":null},` +
		`{"date":"2026-03-03","mealType":"lunch","recipe":{"name":"Omelette"}}],"reasoning":"Quick & warm <on weekdays>."}`
)

// sampleEvent is an event of the job.
func sampleEvent(id int, what, data string) string {
	return fmt.Sprintf(`{"id":"%016d","event":"recipes:suggestions:%s","requestId":%q,"userId":"u1","time":"2026-03-01T10:00:%02dZ","data":%s}`,
		id, what, sampleID, id, data)
}

// withJob gives a fake its job, in the state that it ends in, and the events up
// to then.
func withJob(f *fake, state, more string, frames ...string) *fake {
	f.answers["POST /api/jobs"] = fmt.Sprintf(`{"requestId":%q,"sessionId":"s1","status":"pending"}`, sampleID)
	f.statuses["POST /api/jobs"] = 202
	f.answers["GET /api/jobs/"+sampleID] = sampleJob(state, more)
	f.frames = frames
	return f
}

// goodRun is how a job goes that brings a result.
func goodRun() []string {
	return []string{
		sampleEvent(1, "pending", `{"status":"pending"}`),
		sampleEvent(2, "running", `{"status":"running"}`),
		sampleEvent(3, "activity", `{"message":"Browsing Italian recipes...","type":"querying","progress":30}`),
		sampleEvent(4, "activity", `{"message":"Browsing Italian recipes...","type":"querying","progress":30}`),
		sampleEvent(5, "partial", `{"suggestions":[],"total":2}`),
		sampleEvent(6, "received", `{"suggestionId":"`+sampleID+`"}`),
	}
}
