package console

import (
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

// signIn sets a cookie for the token or key (sign_in.go), which no script can read and which other
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
