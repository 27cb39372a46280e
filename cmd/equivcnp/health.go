package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/internal/cli"
)

// healthCommand asks a server whether it is well, for containers that hold no other program that could.
func (a *app) healthCommand() *cobra.Command {
	var address string
	var live, insecure bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "health [--address localhost:8080]",
		Short: "Ask a server whether it is ready",
		Long: `Ask a server whether it is ready, or with --live whether it lives. The status is 0 if it says so and 1 if not.

The image of a container has no other program: HEALTHCHECK CMD ["/equivcnp", "health"]. Without --address
it asks the server of EQUIVCNP_LISTEN, or that of port 8080 on this machine.`,
		Example: "  equivcnp health --address localhost:8080 --timeout 2s",
		Args:    cobra.NoArgs,
	}
	fl := cmd.Flags()
	fl.StringVar(&address, "address", "", "HOST:PORT, or a URL with https where the server speaks TLS")
	fl.BoolVar(&live, "live", false, "whether it lives, not whether it is ready")
	fl.BoolVar(&insecure, "insecure", false, "take any certificate, as for a server on this machine whose name is another")
	fl.DurationVar(&timeout, "timeout", 5*time.Second, "how long to wait")
	cmd.RunE = a.action(func(cmd *cobra.Command, _ []string) error {
		target, err := healthURL(cmp.Or(address, os.Getenv("EQUIVCNP_LISTEN"), ":8080"), live)
		if err != nil {
			return err
		}
		if timeout <= 0 {
			return cli.Usagef("--timeout %v: need more than nothing", timeout)
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
		if err != nil {
			return cli.Usage(err)
		}
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: insecure}}}
		resp, err := client.Do(r)
		if err != nil {
			if ctx.Err() != nil && cmd.Context().Err() == nil {
				return fmt.Errorf("no answer within %v", timeout)
			}
			return err
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s", resp.Status, strings.TrimSpace(string(text)))
		}
		fmt.Fprintln(a.stdout, strings.TrimSpace(string(text)))
		return nil
	})
	return cmd
}

// healthURL is where the server of an address says whether it is well. An address without a host is one of this machine.
func healthURL(address string, live bool) (string, error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "", cli.Usage(errors.New("--address: need HOST:PORT or a URL"))
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
