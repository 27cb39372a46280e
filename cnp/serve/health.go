package serve

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/equivcnp/equivcnp/cnp/settings"
)

// Health asks the server of an address whether it is ready, or with live whether it lives, and returns what it says. insecure
// takes any certificate.
func Health(ctx context.Context, address string, live, insecure bool) (string, error) {
	target, err := HealthURL(address, live)
	if err != nil {
		return "", err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return "", settings.Wrap(err)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: insecure}}}
	resp, err := client.Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: %s", resp.Status, strings.TrimSpace(string(text)))
	}
	return strings.TrimSpace(string(text)), nil
}

// HealthURL returns where the server of an address says whether it is well. An address without a host is one of this machine.
func HealthURL(address string, live bool) (string, error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "", settings.Errorf("{Address}: need HOST:PORT or a URL")
	}
	if host := u.Hostname(); host == "" || net.ParseIP(host).IsUnspecified() {
		u.Host = net.JoinHostPort("localhost", u.Port())
	}
	u.Path = strings.TrimSuffix(u.Path, "/") + "/v2/health/ready"
	if live {
		u.Path = strings.TrimSuffix(u.Path, "ready") + "live"
	}
	return u.String(), nil
}
