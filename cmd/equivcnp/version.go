package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/internal/cli"
	"github.com/equivcnp/equivcnp/simd"
)

func (a *app) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:                   "version",
		DisableFlagsInUseLine: true,
		Short:                 "Print the version and what it runs on",
		Example:               "  equivcnp version --json",
		Args:                  noArguments,
	}
	a.jsonFlag(cmd)
	cmd.RunE = a.action(func(*cobra.Command, []string) error {
		r := &result{}
		level := fmt.Sprint(simd.CurrentLevel())
		var levels []string
		for _, l := range simd.Levels() {
			levels = append(levels, fmt.Sprint(l))
		}
		r.Line("equivcnp", "%s", cli.BuildVersion())
		revision, when, modified := cli.BuildStamp()
		if revision != "" {
			changed := ""
			if modified {
				changed = ", with changes"
			}
			r.Line("revision", "%s, %s%s", revision, when, changed)
		}
		r.Line("go", "%s %s/%s", runtime.Version(), runtime.GOOS, runtime.GOARCH)
		r.Line("simd", "%s, of %v here", level, levels)
		return a.print(r, map[string]any{
			"version": cli.BuildVersion(), "revision": revision, "revision_time": when, "modified": modified, "go": runtime.Version(),
			"os": runtime.GOOS, "arch": runtime.GOARCH,
			"simd": level, "simd_levels": levels,
		})
	})
	return cmd
}
