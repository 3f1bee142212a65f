package console

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
	"time"

	"ringback/internal/job"
)

// signedIn requires a sign-in for a page. The sign-in page returns to the requested page
// afterwards.
func (c *Console) signedIn(next handler) handler {
	return func(v *visit) error {
		if c.opts.Open {
			return next(v)
		}
		cookie, err := v.Cookie(c.opts.Cookie)
		if err == nil && v.identify(cookie.Value) {
			return next(v)
		}
		if err != nil && v.Request().Header.Get("Sec-Fetch-Site") == "cross-site" && v.Request().Method == http.MethodGet {
			// The browser withholds the cookie if a link of another site leads here, such as one in
			// a chat. Our own page then loads the requested page again, with the cookie.
			return v.render(http.StatusOK, "again", page{Title: "Ringback"})
		}
		if v.Request().Method != http.MethodGet {
			return job.Errorf(job.Unauthorized, "You are no longer signed in").WithHint("Sign in, and do it again.")
		}
		return v.askToSignIn()
	}
}

func (v *visit) identify(credential string) bool {
	who, err := v.console.opts.IdentifyFunc(credential)
	if err == nil {
		v.Who, v.token = who, credential
	}
	return err == nil
}

// askToSignIn redirects to the sign-in page, which returns here afterwards.
func (v *visit) askToSignIn() error {
	next := signInPath(v.Request().URL.RequestURI(), prefix(v.Request()) != "")
	return v.Redirect(http.StatusSeeOther, mount(v.Request())+next)
}

type signInForm struct {
	Next, Fault string
}

func (c *Console) signInPage(v *visit) error {
	if c.opts.Open {
		return v.see("/")
	}
	return v.render(http.StatusOK, "sign_in", page{Title: "Sign in", Data: signInForm{Next: localPath(v.QueryParam("next"))}})
}

// signIn sets a cookie for the token or key, sealed as described below, which no script can read and which other
// sites and ports cannot use (private_path.go).
func (c *Console) signIn(v *visit, sent url.Values) error {
	token, next := strings.TrimSpace(sent.Get("token")), localPath(sent.Get("next"))
	who, err := c.opts.IdentifyFunc(token)
	if err != nil || token == "" {
		fault := "A token or key is needed."
		if token != "" {
			fault = "Sign-in failed: " + err.Error() + "."
		}
		return v.render(http.StatusUnauthorized, "sign_in", page{Title: "Sign in", Data: signInForm{next, fault}})
	}
	s := newSignIn()
	if err := c.saveSignIn(v.Request().Context(), s, token); err != nil {
		return err
	}
	v.SetCookie(v.cookie(s, who.Until))
	return v.Redirect(http.StatusSeeOther, mount(v.Request())+"/~"+s.PathID+next)
}

// signOut ends the sign-in, for all copies of the cookie.
func (c *Console) signOut(v *visit) error {
	if pathID := strings.TrimPrefix(prefix(v.Request()), "/~"); pathID != "" {
		if cookie, err := v.Cookie(pathCookie(pathID, overTLS(v))); err == nil {
			if err := c.opts.SignIns.RemoveSignIn(v.Request().Context(), signIn{ID: cookie.Value}.name()); err != nil {
				return err
			}
		}
		v.SetCookie(v.cookie(signIn{PathID: pathID}, time.Unix(1, 0)))
	}
	return v.Redirect(http.StatusSeeOther, mount(v.Request())+signInPath("/", true))
}

func (v *visit) cookie(s signIn, until time.Time) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // Secure wherever the page came over TLS
		Name: pathCookie(s.PathID, overTLS(v)), Value: s.ID, Path: mount(v.Request()) + "/~" + s.PathID + "/", Expires: until,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: overTLS(v),
	}
}

// localPath returns a path of this server to continue to; for any other URL, the first page.
func localPath(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || !strings.HasPrefix(u.Path, "/") ||
		strings.HasPrefix(u.Path, "//") || strings.ContainsAny(text, "\\\r\n\t") {
		return "/"
	}
	return u.RequestURI()
}

// Signing in generates a random ID, which is stored in the cookie. The store keeps the key or token
// under a digest of the ID, sealed with a key that is derived from the ID: access to the store
// alone does not reveal it, and a copied cookie is worthless once the record is deleted. The key or
// token is checked again on each request.

// SignIns stores the sealed keys and tokens of signed-in people.
type SignIns interface {
	// SaveSignIn stores one under a name. It expires if not read for idle.
	SaveSignIn(ctx context.Context, name string, sealed []byte, idle time.Duration) error
	// SignIn returns it and extends its life to idle from now; nil if there is none.
	SignIn(ctx context.Context, name string, idle time.Duration) ([]byte, error)
	// RemoveSignIn removes it.
	RemoveSignIn(ctx context.Context, name string) error
}

// signInIdle is the time after which a sign-in ends if no page is opened.
const signInIdle = 7 * 24 * time.Hour

const signInBytes = 32

// signIn is a sign-in as the browser knows it: each part is worthless without the other.
type signIn struct {
	// ID is the value of the cookie.
	ID     string
	PathID string
}

func newSignIn() signIn {
	id := make([]byte, signInBytes)
	_, _ = rand.Read(id) // it never fails
	return signIn{base64.RawURLEncoding.EncodeToString(id), rand.Text()}
}

// isID reports whether a cookie's value can be the ID of a sign-in. The store is not queried for
// other values.
func (s signIn) isID() bool {
	id, err := base64.RawURLEncoding.DecodeString(s.ID)
	return err == nil && len(id) == signInBytes
}

func (s signIn) name() string {
	sum := sha256.Sum256([]byte(s.ID))
	return hex.EncodeToString(sum[:])
}

// box returns the cipher that seals and opens the stored record.
func (s signIn) box() (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, []byte(s.ID), nil, "ringback sign-in", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

func (c *Console) saveSignIn(ctx context.Context, s signIn, credential string) error {
	box, err := s.box()
	if err != nil {
		return err
	}
	sealed := box.Seal(nil, nil, []byte(credential), []byte(s.PathID)) //nolint:gosec // Seal makes a random nonce itself
	return c.opts.SignIns.SaveSignIn(ctx, s.name(), sealed, signInIdle)
}

// credential returns the key or token of a sign-in; empty if it has ended. The error is the
// store's.
func (c *Console) credential(ctx context.Context, s signIn) (string, error) {
	if !s.isID() {
		return "", nil
	}
	sealed, err := c.opts.SignIns.SignIn(ctx, s.name(), signInIdle)
	if err != nil || sealed == nil {
		return "", err
	}
	box, err := s.box()
	if err != nil {
		return "", err
	}
	credential, _ := box.Open(nil, nil, sealed, []byte(s.PathID)) // none if the cookie was taken to another private path
	return string(credential), nil
}
