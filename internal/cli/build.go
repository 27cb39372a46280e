package cli

import (
	"runtime/debug"
)

// packaged is the version that a packager gives the linker, who builds from an archive of files, in which the Go command finds none:
//
//	go build -ldflags "-X github.com/equivcnp/equivcnp/internal/cli.packaged=v0.1.0" ./cmd/equivcnp
var packaged string

// BuildVersion returns the version that a packager named, else the one of the module as the Go command recorded it: a tag, or a
// pseudo-version that ends with the revision. It is (devel) where neither exists.
func BuildVersion() string {
	if packaged != "" {
		return packaged
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

// BuildStamp is the revision that the program was built from, when it was made, and whether files were changed since;
// empty where nobody recorded it.
func BuildStamp() (revision, when string, modified bool) {
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
