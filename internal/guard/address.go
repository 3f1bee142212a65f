package guard

import (
	"net"

	"github.com/labstack/echo/v4"
)

// Addresses returns how the address of a client is found: it is that of the connection,
// and what X-Forwarded-For says only where these proxies, addresses or networks of
// them, have written it. Anyone else may write into that header what they like.
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
