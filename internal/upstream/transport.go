package upstream

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"ringback/internal/outbound"
)

// NewTransport returns a transport that uses the proxy and trusts the certificate
// authorities of an environment.
func NewTransport(environ []string) *http.Transport {
	via := outbound.ViaOf(environ)
	return &http.Transport{
		Proxy:           func(r *http.Request) (*url.URL, error) { return via(r.URL) },
		DialContext:     (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig: &tls.Config{RootCAs: authorities(environ), MinVersion: tls.VersionTLS12},
		// Responses are forwarded as they are; the client decides on compression.
		DisableCompression: true, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: 30 * time.Second, MaxIdleConnsPerHost: 32, IdleConnTimeout: 90 * time.Second,
	}
}

// authorities returns the certificate authorities of the system and those in the
// environment's variables that the CLI also reads; nil for only the system's.
func authorities(environ []string) *x509.CertPool {
	var texts [][]byte
	for _, entry := range environ {
		name, file, _ := strings.Cut(entry, "=")
		if !slices.Contains([]string{"SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"}, name) {
			continue
		}
		if text, err := os.ReadFile(file); err == nil {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		return nil
	}
	for _, text := range texts {
		pool.AppendCertsFromPEM(text)
	}
	return pool
}
