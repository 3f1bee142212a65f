package simulate

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
)

// post sends a payload file with curl, as the prompt tells Claude to. Only where
// there is no curl, it does so itself.
func post(ctx context.Context, url, file string) ([]byte, error) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		return postWithoutCurl(ctx, url, file)
	}
	cmd := exec.CommandContext(ctx, curl, "-sS", "-X", "POST", url, "-H", "Content-Type: application/json",
		"--retry", "8", "--retry-connrefused", "--retry-max-time", "120", "-d", "@"+file)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("curl: %w: %s", err, strings.TrimSpace(stderr.String()))
	}
	return output, nil
}

func postWithoutCurl(ctx context.Context, url, file string) ([]byte, error) {
	body, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, body)
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
