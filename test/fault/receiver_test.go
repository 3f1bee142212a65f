package fault

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"ringback/test/harness"
)

// receiver is what the nodes tell of jobs (WEBHOOK_URL). At times it refuses notices, or takes calls
// and does not answer.
type receiver struct {
	*httptest.Server
	world *world

	mu sync.Mutex
	// refusal is the status that calls are answered with; 0 while they are taken.
	refusal int
	// hang is closed when calls are answered again; nil while they are.
	hang chan struct{}
	// bodies are those of all notices, by webhook-id; taken are the types of those that were taken, by
	// request id.
	bodies map[string]string
	taken  map[string]map[string]bool
}

// startReceiver has the nodes tell a receiver on a host.
func (w *world) startReceiver(host string) {
	if w.receiver != nil {
		w.receiver.Close()
	}
	r := &receiver{world: w, bodies: map[string]string{}, taken: map[string]map[string]bool{}}
	r.Server = httptest.NewUnstartedServer(r)
	listener, err := net.Listen("tcp", host+":0")
	if err != nil {
		w.t.Fatal(err)
	}
	_ = r.Listener.Close()
	r.Listener = listener
	r.Start()
	w.t.Cleanup(func() {
		r.CloseClientConnections()
		r.Close()
	})
	w.receiver = r
	for _, env := range w.env {
		env["WEBHOOK_URL"] = r.URL
	}
}

// ServeHTTP implements http.Handler.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // it broke off
	}
	r.mu.Lock()
	refusal, hang := r.refusal, r.hang
	r.mu.Unlock()
	if hang != nil {
		select {
		case <-hang:
		case <-req.Context().Done():
			return
		}
	}
	r.note(req.Header.Get("Webhook-Id"), body, refusal == 0)
	if refusal != 0 {
		w.WriteHeader(refusal)
	}
}

func (r *receiver) note(id string, body []byte, taken bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before, again := r.bodies[id]
	r.bodies[id] = string(body)
	if again && before != string(body) && !r.world.mayGoBack() {
		r.world.t.Errorf("%s: the notice %s says something else at another try:\n%s\n%s", r.world.topology.name, id, before, body)
	}
	var notice struct {
		Type string
		Data struct {
			Job struct {
				RequestID string `json:"requestId"`
			}
		}
	}
	if err := json.Unmarshal(body, &notice); err != nil {
		r.world.t.Errorf("%s: a notice is %s", r.world.topology.name, body)
	}
	if !taken {
		return
	}
	id = notice.Data.Job.RequestID
	if r.taken[id] == nil {
		r.taken[id] = map[string]bool{}
	}
	r.taken[id][notice.Type] = true
}

// refuse answers calls with a status for a while.
func (r *receiver) refuse() {
	statuses := []int{http.StatusNotFound, http.StatusUnauthorized, http.StatusInternalServerError, http.StatusFound}
	r.set(statuses[r.world.rand.IntN(len(statuses))], nil)
	r.world.sleep(r.world.t.Context(), 3000)
	r.set(0, nil)
}

// pause takes calls for a while and does not answer.
func (r *receiver) pause() {
	hang := make(chan struct{})
	r.set(0, hang)
	r.world.sleep(r.world.t.Context(), 3000)
	close(hang)
	r.set(0, nil)
}

func (r *receiver) set(refusal int, hang chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refusal, r.hang = refusal, hang
}

func (r *receiver) wasTold(id, event string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.taken[id][event]
}

// checkNotices waits until the receiver was told how each job has ended.
func (w *world) checkNotices(jobs []*jobSeen) {
	within := harness.Patience
	for _, j := range jobs {
		status, _ := w.ask(http.MethodGet, "/api/jobs/"+j.id, nil).body["status"].(string)
		for deadline := time.Now().Add(within); !w.receiver.wasTold(j.id, "job."+status); pause(50) {
			if time.Now().After(deadline) {
				w.broken(j, "the end of a job is told to the outside", "nobody was told that it is %s", status)
				within = 0 // for the others, too
				break
			}
		}
	}
}
