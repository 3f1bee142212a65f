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

func networkOf(text string) *net.IPNet {
	if _, network, err := net.ParseCIDR(text); err == nil {
		return network
	}
	ip := net.ParseIP(text)
	if four := ip.To4(); four != nil {
		ip = four
	}
	if ip == nil {
		return nil
	}
	return &net.IPNet{IP: ip, Mask: net.CIDRMask(8*len(ip), 8*len(ip))}
}
