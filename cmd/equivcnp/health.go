package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp/serve"
	"github.com/equivcnp/equivcnp/internal/cli"
)

// healthCommand asks a server whether it is well, for containers that hold no other program that could.
func (a *app) healthCommand() *cobra.Command {
	var address string
	var live, insecure bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:     "health [--address localhost:8080]",
		Short:   "Ask a server whether it is ready",
		Long:    helpText("health"),
		Example: "  equivcnp health --address localhost:8080 --timeout 2s",
		Args:    noArguments,
	}
	fl := cmd.Flags()
	fl.StringVar(&address, "address", "", "HOST:PORT, or a URL with https if the server uses TLS")
	fl.BoolVar(&live, "live", false, "ask whether the server is alive, not whether it is ready")
	fl.BoolVar(&insecure, "insecure", false, "accept any certificate, for example that of a server on this machine under another name")
	fl.DurationVar(&timeout, "timeout", 5*time.Second, "how long to wait")
	cmd.RunE = a.action(func(cmd *cobra.Command, _ []string) error {
		if timeout <= 0 {
			return cli.Usagef("--timeout %v: need more than 0", timeout)
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
		defer cancel()
		text, err := serve.Health(ctx, cmp.Or(address, os.Getenv("EQUIVCNP_LISTEN"), ":8080"), live, insecure)
		if ctx.Err() != nil && cmd.Context().Err() == nil && err != nil {
			return fmt.Errorf("no answer within %v", timeout)
		}
		if err != nil {
			return flagged(err)
		}
		fmt.Fprintln(a.stdout, text)
		return nil
	})
	return cmd
}
