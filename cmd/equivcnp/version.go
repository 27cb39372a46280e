package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/simd"
)

// buildVersion is the module's version as the Go command recorded it, with the revision it was built from.
func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

// buildStamp is the revision that the program was built from, when it was made, and whether files were changed since;
// empty where nobody recorded it.
func buildStamp() (revision, when string, modified bool) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", "", false
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value
		case "vcs.time":
			when = s.Value
		case "vcs.modified":
			modified = s.Value == "true"
		}
	}
	return revision, when, modified
}

func (a *app) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:                   "version",
		DisableFlagsInUseLine: true,
		Short:                 "Print the version and what it runs on",
		Example:               "  equivcnp version --json",
		Args:                  cobra.NoArgs,
	}
	cmd.Flags().BoolVar(&a.json, "json", false, "print one JSON object")
	cmd.RunE = a.action(func(*cobra.Command, []string) error {
		r := &result{}
		level := fmt.Sprint(simd.CurrentLevel())
		var levels []string
		for _, l := range simd.Levels() {
			levels = append(levels, fmt.Sprint(l))
		}
		r.Line("equivcnp", "%s", buildVersion())
		revision, when, modified := buildStamp()
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
			"version": buildVersion(), "revision": revision, "revision_time": when, "modified": modified, "go": runtime.Version(),
			"os": runtime.GOOS, "arch": runtime.GOARCH,
			"simd": level, "simd_levels": levels,
		})
	})
	return cmd
}
