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
		if timeout <= 0 {
			return cli.Usagef("--timeout %v: need more than nothing", timeout)
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
