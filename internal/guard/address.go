package guard

import (
	"net"

	"github.com/labstack/echo/v4"
)

// Addresses returns a function that extracts the address of a client. It is that of the
// connection, unless the connection comes from one of these proxies (addresses or
// networks); then it is taken from X-Forwarded-For. From any other client, that header may
// be forged.
func Addresses(proxies []string) echo.IPExtractor {
	if len(proxies) == 0 {
		return echo.ExtractIPDirect()
	}
	trusted := []echo.TrustOption{echo.TrustLoopback(false), echo.TrustLinkLocal(false), echo.TrustPrivateNet(false)}
	for _, proxy := range proxies {
		if network := networkOf(proxy); network != nil {
			trusted = append(trusted, echo.TrustIPRange(network))
		}
	}
	return echo.ExtractIPFromXFFHeader(trusted...)
}

// networkOf parses a network, or an address as a network; nil if it is neither.
func networkOf(text string) *net.IPNet {
	for _, length := range []string{"", "/128", "/32"} { // in this order: "::1/32" is a network, too
		if _, network, err := net.ParseCIDR(text + length); err == nil {
			return network
		}
	}
	return nil
}
