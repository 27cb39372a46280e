package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBLASCommand(t *testing.T) {
	cmd := blasCommand()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetArgs([]string{"--match", "dgemv T", "--rounds", "1", "--time", "1us"})
	require.NoError(t, cmd.Execute())
	require.Regexp(t, `\| dgemv T \| 1024 \| \S+ \| \d+\.\d\d \| \S+ \| \d+\.\d\d \|`, out.String())
}

func TestBLASSmall(t *testing.T) {
	cmd := blasCommand()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetArgs([]string{"--small", "--match", "nrm2"})
	require.NoError(t, cmd.Execute())
	require.Regexp(t, `\| dnrm2 \|( \d+\.\d\d \|){22}\n\| snrm2 \|`, out.String())
}
