package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
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

// TestServeBrokenPipe: a server whose log nobody reads any more goes on, and stops as it should. Other commands end with their output.
func TestServeBrokenPipe(t *testing.T) {
	program := func(args ...string) *exec.Cmd {
		cmd := exec.Command(os.Args[0], args...)
		cmd.Env = append(os.Environ(), asProgram+"=1")
		return cmd
	}
	server := program("serve", "--model", "rbf-equivcnp", "--listen", "127.0.0.1:0", "--memory", "1G", "--access-log")
	log, err := server.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, server.Start())
	defer func() { _ = server.Process.Kill() }()
	lines := bufio.NewScanner(log)
	var line struct{ Msg, Address string }
	for line.Msg != "listening" && lines.Scan() {
		require.NoError(t, json.Unmarshal(lines.Bytes(), &line), "%s", lines.Text())
	}
	require.Equal(t, "listening", line.Msg)
	require.NoError(t, log.Close())
	for range 5 { // each writes a line
		resp, err := http.Get("http://" + line.Address + "/v2/health/live")
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusOK, resp.StatusCode)
	}
	require.NoError(t, server.Process.Signal(syscall.SIGTERM))
	http.DefaultClient.CloseIdleConnections()
	require.NoError(t, server.Wait())

	read, write, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, read.Close())
	defer write.Close()
	other := program("version")
	other.Stdout = write
	var ended *exec.ExitError
	require.ErrorAs(t, other.Run(), &ended)
	require.Equal(t, syscall.SIGPIPE, ended.Sys().(syscall.WaitStatus).Signal())
}
