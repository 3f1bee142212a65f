package console

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"ringback/internal/job"
)

// signedIn lets in who is signed in; all others are asked to, and come back then.
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
			// The browser keeps the cookie back where a link of another site leads here, such
			// as one in a chat. The page that it loads next is asked for by ours.
			return v.render(http.StatusOK, "again", page{Title: "Ringback"})
		}
		if v.Request().Method != http.MethodGet {
			return job.Errorf(job.Unauthorized, "You are no longer signed in").WithHint("Sign in, and do it again.")
		}
		return v.askToSignIn()
	}
}

// identify notes who a key or token lets in; false where it lets nobody in.
func (v *visit) identify(credential string) bool {
	who, err := v.console.opts.IdentifyFunc(credential)
	if err == nil {
		v.Who, v.token = who, credential
	}
	return err == nil
}

// askToSignIn leads to the sign-in, and from there back.
func (v *visit) askToSignIn() error {
	return v.Redirect(http.StatusSeeOther, signInPath(v.Request().URL.RequestURI(), prefix(v.Request()) != ""))
}

// signInForm is what the page of the sign-in shows.
type signInForm struct {
	Next, Fault string
}

func (c *Console) signInPage(v *visit) error {
	if c.opts.Open {
		return v.see("/")
	}
	return v.render(http.StatusOK, "sign_in", page{Title: "Sign in", Data: signInForm{Next: localPath(v.QueryParam("next"))}})
}

// signIn gives the browser a cookie that no script can read, that other sites and ports cannot
// use (private_path.go), and that stands for the token or key (sign_in.go).
func (c *Console) signIn(v *visit) error {
	sent, err := v.sent()
	if err != nil {
		return err
	}
	token, next := strings.TrimSpace(sent.Get("token")), localPath(sent.Get("next"))
	who, err := c.opts.IdentifyFunc(token)
	if err != nil || token == "" {
		fault := "A token or key is needed."
		if token != "" {
			fault = "That does not let you in: " + err.Error() + "."
		}
		return v.render(http.StatusUnauthorized, "sign_in", page{Title: "Sign in", Data: signInForm{next, fault}})
	}
	s := newSignIn()
	if err := c.saveSignIn(v.Request().Context(), s, token); err != nil {
		return err
	}
	v.SetCookie(v.cookie(s, who.Until))
	return v.Redirect(http.StatusSeeOther, "/~"+s.PathID+next)
}

// signOut ends the sign-in, for each copy of the cookie.
func (c *Console) signOut(v *visit) error {
	if pathID := strings.TrimPrefix(prefix(v.Request()), "/~"); pathID != "" {
		if cookie, err := v.Cookie(pathCookie(pathID, overTLS(v))); err == nil {
			if err := c.opts.SignIns.RemoveSignIn(v.Request().Context(), signIn{ID: cookie.Value}.name()); err != nil {
				return err
			}
		}
		v.SetCookie(v.cookie(signIn{PathID: pathID}, time.Unix(1, 0)))
	}
	return v.Redirect(http.StatusSeeOther, signInPath("/", true))
}

func (v *visit) cookie(s signIn, until time.Time) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // Secure wherever the page came over TLS
		Name: pathCookie(s.PathID, overTLS(v)), Value: s.ID, Path: "/~" + s.PathID + "/", Expires: until,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: overTLS(v),
	}
}

// localPath is a path of this server to go on to; any other address is the first page.
func localPath(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(u.Path, "//") || strings.ContainsAny(text, "\\\r\n\t") {
		return "/"
	}
	return u.RequestURI()
}
