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
	"ringback/test/must"
)

// receiver receives the webhooks of all nodes (WEBHOOK_URL). At times it rejects them or does not
// respond.
type receiver struct {
	*httptest.Server
	world *world

	mu sync.Mutex
	// refusal is the status of responses; 0 for 200.
	refusal int
	// hang is set while the receiver does not respond, and closed when it does again.
	hang chan struct{}
	// bodies contains every body by webhook-id, taken the types of accepted webhooks by
	// request id.
	bodies map[string]string
	taken  map[string]map[string]bool
}

// startReceiver starts the receiver on a host and configures the nodes to use it.
func (w *world) startReceiver(host string) {
	if w.receiver != nil {
		w.receiver.Close()
	}
	r := &receiver{world: w, bodies: map[string]string{}, taken: map[string]map[string]bool{}}
	r.Server = httptest.NewUnstartedServer(r)
	listener := must.Get(net.Listen("tcp", host+":0"))(w.t)
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
		return // the request was aborted
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

// refuse rejects webhooks for a while.
func (r *receiver) refuse() {
	statuses := []int{http.StatusNotFound, http.StatusUnauthorized, http.StatusInternalServerError, http.StatusFound}
	r.set(statuses[r.world.rand.IntN(len(statuses))], nil)
	r.world.sleep(r.world.t.Context(), 3000)
	r.set(0, nil)
}

// pause accepts connections for a while without responding.
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

// checkNotices waits until the end of each job has been reported to the receiver.
func (w *world) checkNotices(jobs []*jobSeen) {
	within := harness.Patience
	for _, j := range jobs {
		status, _ := w.ask(http.MethodGet, "/api/jobs/"+j.id, nil).body["status"].(string)
		for deadline := time.Now().Add(within); !w.receiver.wasTold(j.id, "job."+status); pause(50) {
			if time.Now().After(deadline) {
				w.broken(j, "the end of a job is told to the outside", "nobody was told that it is %s", status)
				within = 0 // do not wait for the others
				break
			}
		}
	}
}
