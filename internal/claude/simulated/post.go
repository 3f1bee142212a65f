package simulated

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// post is one call of an endpoint, with the payload in a file of the working directory.
type post struct {
	dir, url, file string
	// curl is the path of the program; empty if it is not installed.
	curl string
}

func newPost(dir, url, file string) post {
	curl, err := exec.LookPath("curl")
	if err != nil {
		curl = ""
	}
	return post{dir: dir, url: url, file: file, curl: curl}
}

// args returns curl's arguments, in the order of the prompt.
func (p post) args() []string {
	return []string{
		"-sS", "-X", "POST", p.url, "-H", "Content-Type: application/json",
		"--retry", "6", "--retry-all-errors", "--retry-max-time", "60", "-m", p.patience(), "-d", "@" + p.file,
	}
}

// patience returns how many seconds the call may take, including a wait for the user.
func (p post) patience() string {
	if strings.HasSuffix(p.url, "/checkpoints") || strings.Contains(p.url, "/actions/") {
		return "330" // 15 more than the maximum of HOLD
	}
	return "15"
}

// String returns the command as Claude would type it.
func (p post) String() string {
	return "curl " + strings.NewReplacer(
		"Content-Type: application/json", "'Content-Type: application/json'", "@"+p.file, `"@`+p.file+`"`,
	).Replace(strings.Join(p.args(), " "))
}

// send runs curl and returns the response body. If curl is not installed, it posts the
// payload itself.
func (p post) send(ctx context.Context) ([]byte, error) {
	if p.curl == "" {
		return p.sendWithoutCurl(ctx)
	}
	cmd := exec.CommandContext(ctx, p.curl, p.args()...)
	cmd.Dir = p.dir
	cmd.WaitDelay = time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("curl: %w: %s", err, strings.TrimSpace(stderr.String()))
	}
	return output, nil
}

func (p post) sendWithoutCurl(ctx context.Context) ([]byte, error) {
	body, err := os.Open(filepath.Join(p.dir, p.file))
	if err != nil {
		return nil, err
	}
	defer body.Close()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "ringback-simulate (curl is not installed)")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}
