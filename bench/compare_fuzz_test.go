package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzCompare compares files of results that were damaged. What is read is compared and printed in both forms.
func FuzzCompare(f *testing.F) {
	line := `{"name":"gemm/ours","n":64,"metric":"gflops","value":`
	f.Add([]byte(line+"90}\n"+line+"91}\n"), []byte(line+"80}\n"+line+"81}\n\n"))
	f.Add([]byte(line+"0}\n"), []byte(line+"1}\n"))
	times := strings.ReplaceAll(line, "gflops", "ns_per_call")
	f.Add([]byte(times+"0}\n"), []byte(times+"1}\n"))
	f.Add([]byte(line+"1e308}\n"+line+"1.7e308}\n"), []byte(line+"-1e308}\n"+line+"null}\n"))
	f.Add([]byte(`{"name":"limits/fma","metric":"gflops","value":5e-324}`), []byte(`{"name":"limits/fma","metric":"gflops","value":1e308}`))
	f.Add([]byte("{"), []byte("null"))
	f.Fuzz(func(t *testing.T, old, now []byte) {
		a, err := parseSamples("old.jsonl", bytes.NewReader(old))
		if err != nil {
			require.ErrorContains(t, err, "old.jsonl: ")
			return
		}
		b, err := parseSamples("new.jsonl", bytes.NewReader(now))
		if err != nil {
			require.ErrorContains(t, err, "new.jsonl: ")
			return
		}
		if len(a)+len(b) > 200 { // a test of two long samples takes long
			return
		}
		c := compareSamples(a, b, 0.05)
		for _, asJSON := range []bool{false, true} {
			flags := compareFlags{alpha: 0.05, all: true, json: asJSON}
			require.NoError(t, flags.print(io.Discard, c, ""))
		}
	})
}
