package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestInterruptedPipe: a command that waits for a pipe nobody writes to ends when it is interrupted.
func TestInterruptedPipe(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	for _, args := range []string{
		"regress --model rbf-equivcnp --csv PIPE --from 0 --to 1 --out " + filepath.Join(dir, "out.csv"),
		"complete --model digits-T2-small --image PIPE --rate 0.5 --out " + filepath.Join(dir, "out.png"),
		"inspect PIPE", "eval --model digits-T2-small --mnist PIPE", "predict --model rbf-equivcnp --in PIPE --out " +
			filepath.Join(dir, "o.safetensors"),
	} {
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan int)
		var out, errs bytes.Buffer
		go func() {
			ended <- run(ctx, strings.Fields(strings.ReplaceAll(args, "PIPE", pipe)), nil, &out, &errs)
		}()
		time.Sleep(50 * time.Millisecond) // until it waits, mostly
		cancel()
		select {
		case status := <-ended:
			require.Equal(t, 1, status, args)
			require.Contains(t, errs.String(), "interrupted", args)
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: still waiting for the pipe", args)
		}
	}
}
