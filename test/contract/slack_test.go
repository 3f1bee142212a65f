package contract

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"
)

const slackSecret = "a-signing-secret-of-slacks"

// signedBySlack returns the headers that Slack sends with a form.
func signedBySlack(form string) map[string]string {
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, []byte(slackSecret))
	mac.Write([]byte("v0:" + stamp + ":" + form))
	return map[string]string{"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": "v0=" + hex.EncodeToString(mac.Sum(nil))}
}
