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

// signIn keeps a token or key in a cookie that no script can read, that other sites and ports
// cannot use (private_path.go), and that ends with the token.
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
	pathID := newPathID()
	v.SetCookie(c.cookie(v, pathID, token, who.Until))
	return v.Redirect(http.StatusSeeOther, "/~"+pathID+next)
}

func (c *Console) signOut(v *visit) error {
	if pathID := strings.TrimPrefix(prefix(v.Request()), "/~"); pathID != "" {
		v.SetCookie(c.cookie(v, pathID, "", time.Unix(1, 0)))
	}
	return v.Redirect(http.StatusSeeOther, signInPath("/", true))
}

func (c *Console) cookie(v *visit, pathID, value string, until time.Time) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // Secure wherever the page came over TLS
		Name: pathCookie(pathID), Value: value, Path: "/~" + pathID + "/", Expires: until,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: v.Scheme() == "https",
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
