package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/equivcnp/equivcnp/internal/shards"
)

// ownedByShards are the flags of a training that a manifest's line leaves to the shard.
var ownedByShards = []string{"out", "resume", "overwrite", "json", "quiet", "threads"}

// checkTraining refuses a line that is no training, before any of them begins.
func checkTraining(line string) ([]string, error) {
	words, err := shards.Words(line)
	if err != nil {
		return nil, err
	}
	if len(words) > 0 && words[0] == "train" {
		words = words[1:]
	}
	if len(words) == 0 || words[0] != "regression" && words[0] != "image" {
		return nil, errors.New("need regression or image, and flags of that training")
	}
	cmd, rest, err := (&app{}).root().Find(append([]string{"train"}, words...))
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err == nil && cmd.Flags().NArg() > 0 {
		err = fmt.Errorf("%q is no flag", cmd.Flags().Arg(0))
	}
	if err != nil {
		return nil, err
	}
	cmd.Flags().Visit(func(x *pflag.Flag) {
		if err == nil && slices.Contains(ownedByShards, x.Name) {
			err = fmt.Errorf("--%s is not for a line to say", x.Name)
		}
	})
	return words, err
}

// trainManifest runs the trainings of a manifest, or a shard of them.
func (a *app) trainManifest(ctx context.Context, f *shardFlags) error {
	lines, err := f.lines()
	if err != nil {
		return err
	}
	words := make([][]string, len(lines))
	for i, l := range lines {
		if words[i], err = checkTraining(l.Name); err != nil {
			return fmt.Errorf("%w: %s:%d: %v", shards.ErrManifest, f.manifest, l.Line, err)
		}
	}
	job := &shards.Job{Kind: "train", Items: lines}
	name := func(it shards.Item) string { return shards.OutName(it.ID, words[it.ID][0], ".safetensors") }
	return f.run(ctx, a, job, name, func(ctx context.Context, it shards.Item, out string) (any, error) {
		return a.trainApart(ctx, words[it.ID], out)
	})
}

// trainApart runs a training of its own, from the words of its line, which goes on where its checkpoint is.
func (a *app) trainApart(ctx context.Context, words []string, out string) (*trainResult, error) {
	args := append([]string{"train"}, words...)
	args = append(args, "--out", out, "--resume", "--json", "--quiet", "--threads", strconv.Itoa(a.threads))
	var said, errs bytes.Buffer
	if status := run(ctx, args, strings.NewReader(""), &said, &errs); status != 0 {
		return nil, errors.New(strings.TrimSpace(errs.String()))
	}
	var res trainResult
	if err := json.Unmarshal(said.Bytes(), &res); err != nil {
		return nil, err
	}
	for _, path := range []*string{&res.Out, &res.Checkpoint, &res.Log, &res.Picture} {
		*path = filepath.Base(*path)
	}
	return &res, nil
}
