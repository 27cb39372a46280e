package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/equivcnp/equivcnp/internal/cli"
	"github.com/equivcnp/equivcnp/internal/shards"
)

// ownedByShards are the flags of a training that a manifest's line leaves to the shard.
var ownedByShards = []string{"out", "resume", "overwrite", "json", "quiet", "threads"}

// trainingOf reads a line that is a training, without running it.
func (a *app) trainingOf(line string) (*cobra.Command, *trainFlags, error) {
	words, err := shards.Words(line)
	if err != nil {
		return nil, nil, err
	}
	if len(words) > 0 && words[0] == "train" {
		words = words[1:]
	}
	if len(words) == 0 || !slices.Contains(trainKinds, words[0]) {
		return nil, nil, errors.New("need regression or image, and flags of that training")
	}
	cmd, f := a.trainKind(words[0])
	cmd.Flags().Bool("quiet", false, "") // those of all commands
	cmd.Flags().Int("threads", 0, "")
	if err = cmd.ParseFlags(words[1:]); err == nil && cmd.Flags().NArg() > 0 {
		err = fmt.Errorf("%q is no flag", cmd.Flags().Arg(0))
	}
	if err == nil { // before the first training begins; and what a file says, it may say no more than the line
		err = cli.ApplyConfig(cmd, f.config)
	}
	cmd.Flags().Visit(func(x *pflag.Flag) {
		if err == nil && slices.Contains(ownedByShards, x.Name) {
			err = fmt.Errorf("--%s is not for a line to say, nor for its --config", x.Name)
		}
	})
	if err == nil {
		err = cmd.ValidateFlagGroups()
	}
	return cmd, f, err
}

// trainManifest runs the trainings of a manifest, or a shard of them.
func (a *app) trainManifest(ctx context.Context, f *shardFlags) error {
	lines, err := f.lines()
	if err != nil {
		return err
	}
	kinds := make([]string, len(lines))
	for i, l := range lines {
		cmd, _, err := a.trainingOf(l.Name)
		if err != nil {
			return fmt.Errorf("%w: %s:%d: %v", shards.ErrManifest, f.manifest, l.Line, err)
		}
		kinds[i] = cmd.Name()
	}
	job := &shards.Job{Kind: "train", Items: lines}
	name := func(it shards.Item) string { return shards.OutName(it.ID, kinds[it.ID], ".safetensors") }
	return f.run(ctx, a, job, name, func(ctx context.Context, it shards.Item, out string) (any, error) {
		quiet := &app{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard, quiet: true, threads: a.threads}
		cmd, t, err := quiet.trainingOf(it.Name)
		if err != nil {
			return nil, err
		}
		t.out, t.resume = out, true
		res, err := quiet.trained(ctx, cmd, t)
		if err != nil {
			return nil, err
		}
		for _, path := range []*string{&res.Out, &res.Checkpoint, &res.Log, &res.Picture} {
			*path = filepath.Base(*path)
		}
		return res, nil
	})
}
