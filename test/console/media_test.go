package console

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"ringback/test/harness"
)

// A question shows the job's own files. For files elsewhere it has links that name the host;
// neither the page nor the server fetches them.
func TestAQuestionShowsImagesAndFilms(t *testing.T) {
	t.Parallel()
	var fetched atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { fetched.Add(1) }))
	t.Cleanup(elsewhere.Close)
	s := start(t, harness.Vars{"HOLD": "1ms"})
	id, envelope := s.Manual(t, nil, harness.Object{"kind": "media", "userId": "u1", "input": harness.Object{"prompt": "a lake"}})
	callback(t, s, "/api/claude/checkpoints", envelope, harness.Object{"type": "information_request", "message": "Which lake?", "props": harness.Object{
		"image_url": elsewhere.URL + "/lake.png", "images": []any{"out/my lake.png", "javascript:alert(1)"}, "video_url": "film.mp4", "files": []any{"notes.txt"},
	}})
	b := open(t, s, "/inbox/"+questionOf(t, s, id))
	b.sees("Which lake?", "Image at 127.0.0.1", "film.mp4", "notes.txt")
	got := b.value(`[...document.querySelectorAll(".media a, .media img, .media video")].map(one => one.getAttribute("href") ?? one.getAttribute("src")).join("\n")`)
	files := "/jobs/" + id + "/files/"
	want := []string{files + "out/my%20lake.png", files + "out/my%20lake.png", files + "film.mp4", files + "film.mp4", files + "notes.txt"}
	link, rest, _ := strings.Cut(got, "\n")
	if !strings.HasPrefix(link, "/leave?to=http") || rest != strings.Join(want, "\n") {
		t.Errorf("the question leads to\n%s", got)
	}
	if fetched.Load() > 0 {
		t.Error("what is elsewhere was fetched")
	}
}
