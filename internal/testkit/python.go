package testkit

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Python returns the system's Python, which has the modules named. Without it the test is skipped and says why; in CI
// (EQUIVCNP_REQUIRE_PYTHON=1) it fails. It is the distribution's own, since that is where .ci/run installs modules.
func Python(t testing.TB, modules ...string) string {
	t.Helper()
	const python = "/usr/bin/python3"
	want := strings.Join(modules, ", ")
	if out, err := exec.Command(python, "-c", "import "+want).CombinedOutput(); err != nil {
		if os.Getenv("EQUIVCNP_REQUIRE_PYTHON") != "" {
			t.Fatalf("%s with %s is required and missing: %v\n%s", python, want, err, out)
		}
		t.Skipf("skipped: needs %s with %s (%v)", python, want, err)
	}
	return python
}
