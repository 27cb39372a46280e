package cnp

import (
	"flag"
	"os"
	"testing"
)

// long asks for the slow half of tests that take minutes.
var long = flag.Bool("long", false, "run the long versions of tests")

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(m.Run())
}
