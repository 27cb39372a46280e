package serve

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp/settings"
)

// clientKey is the context's key of the client that sent a request.
type clientKey struct{}

// withClient says in a request's context who sent it. The connection of a trusted proxy may carry the requests of all clients, so it has no
// share of its own: one client would use that up for the others.
func (s *Server) withClient(r *http.Request) *http.Request {
	ctx := context.WithValue(r.Context(), clientKey{}, clientOf(r, s.opt.Proxies))
	if _, forwarded := senderOf(r, s.opt.Proxies); forwarded {
		ctx = context.WithValue(ctx, shareKey{}, (*share)(nil))
	}
	return r.WithContext(ctx)
}

// clientIn is who sent the request of a context, "" where nobody said so.
func clientIn(ctx context.Context) string {
	name, _ := ctx.Value(clientKey{}).(string)
	return name
}

// clientOf names who sent a request: by the address that a trusted proxy reports, by the certificate that was brought, which several
// connections and machines may have, or else by the address of the connection. Of an address of IPv6 its network of 64 bits counts,
// since a machine may take any address of that.
func clientOf(r *http.Request, proxies []netip.Prefix) string {
	address, forwarded := senderOf(r, proxies)
	if !forwarded && r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
		c := r.TLS.PeerCertificates[0]
		name := []string{c.Subject.String()}
		for _, u := range c.URIs {
			name = append(name, u.String())
		}
		return strings.Join(append(append(name, c.DNSNames...), c.EmailAddresses...), " ")
	}
	if !address.IsValid() {
		return r.RemoteAddr
	}
	if address.Is6() {
		if network, err := address.Prefix(64); err == nil {
			return network.String()
		}
	}
	return address.String()
}

// senderOf returns the address that a request comes from, and whether a trusted proxy reports it: of the addresses in X-Forwarded-For,
// to which every proxy appends the one that it was asked from, the last that is no trusted proxy's. What stands before it says nothing,
// as every client can write it. The address is not valid where that of the connection is none of IP.
func senderOf(r *http.Request, proxies []netip.Prefix) (address netip.Addr, forwarded bool) {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}, false
	}
	address = plain(at.Addr())
	if !contains(proxies, address) {
		return address, false
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		a, ok := parseHop(strings.TrimSpace(hop))
		if !ok { // "unknown", or nothing; who is before it cannot be told
			break
		}
		address, forwarded = a, true
		if !contains(proxies, a) {
			break
		}
	}
	return address, forwarded
}

// parseHop reads an address of X-Forwarded-For, which some proxies write with a port.
func parseHop(text string) (netip.Addr, bool) {
	if a, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")); err == nil {
		return plain(a), true
	}
	at, err := netip.ParseAddrPort(text)
	return plain(at.Addr()), err == nil
}

// plain returns an address without its zone, and one of IPv4 as such.
func plain(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

// contains reports whether one of the networks has an address.
func contains(networks []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(a) })
}

// ParseProxies reads networks for Options.Proxies, such as 10.0.0.0/8, 2001:db8::/32 or 192.0.2.1, which is that address alone. What
// is none of these is an error that names it, with the setting {Proxies}.
func ParseProxies(texts []string) ([]netip.Prefix, error) {
	networks := make([]netip.Prefix, 0, len(texts))
	for _, text := range texts {
		text = strings.TrimSpace(text)
		if a, err := netip.ParseAddr(text); err == nil {
			a = plain(a)
			networks = append(networks, netip.PrefixFrom(a, a.BitLen()))
			continue
		}
		n, err := netip.ParsePrefix(text)
		if err != nil || n.Addr().Is4In6() {
			return nil, settings.Errorf("serve: {Proxies} %q: need an address or a network, for example 10.0.0.0/8", text)
		}
		networks = append(networks, n.Masked())
	}
	return networks, nil
}
