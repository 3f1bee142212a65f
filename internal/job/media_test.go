package job_test

import (
	"testing"

	"ringback/internal/job"
	"ringback/test/must"
)

func TestWhatAQuestionShows(t *testing.T) {
	t.Parallel()
	for props, want := range map[string][]job.Media{
		`{"image_url": "https://cdn.example/lake.png"}`: {{Type: job.MediaImage, Host: "cdn.example", Link: "https://cdn.example/lake.png"}},
		`{"image_url": "out/lake.png", "images": ["http://a.example/1", {"url": "2.png"}], "video_url": "https://b.example:8443/v?a=<|>", "files": ["notes.txt"]}`: {
			{Type: job.MediaImage, File: "out/lake.png", Link: "/jobs/req_1/files/out/lake.png"},
			{Type: job.MediaImage, Host: "a.example", Link: "http://a.example/1"},
			{Type: job.MediaImage, File: "2.png", Link: "/jobs/req_1/files/2.png"},
			{Type: job.MediaVideo, Host: "b.example", Link: "https://b.example:8443/v?a=%3C%7C%3E"},
			{Type: job.MediaFile, File: "notes.txt", Link: "/jobs/req_1/files/notes.txt"},
		},
		`{"image_url": "https://good.example@evil.example/x"}`: {{Type: job.MediaImage, Host: "evil.example", Link: "https://good.example@evil.example/x"}},
		`{"images": ["javascript:alert(1)", "data:image/png;base64,AAAA", "//a.example/x", "/etc/passwd", "../x.png", "a/../../x.png", "file:///x", "", 7, {"alt": "x"}, "\\\\host\\x:1"], "files": ["https://a.example/x"], "image_url": null}`: nil,
		`[]`: nil,
	} {
		c := job.Checkpoint{RequestID: "req_1", Props: []byte(props)}
		must.Equal(t, want, c.Media(), props)
	}
	outside := job.Checkpoint{Props: []byte(`{"image_url": "lake.png"}`)}
	must.Equal(t, nil, outside.Media(), "what was asked outside of a job shows a file")
}
