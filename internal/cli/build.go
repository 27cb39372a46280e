package cli

import (
	"runtime/debug"
)

// BuildVersion is the module's version as the Go command recorded it, with the revision it was built from.
func BuildVersion() string {
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
