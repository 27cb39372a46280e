package stations

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"os"

	"github.com/equivcnp/equivcnp/internal/atomicfile"
	"github.com/equivcnp/equivcnp/internal/shards"
)

// step says how far both files are, and what was written last.
type step struct {
	In   int64  `json:"in"`
	Out  int64  `json:"out"`
	Rows int    `json:"rows"`
	Sum  string `json:"sum"` // the digest of the part of the output
}

// output is the output while it is not complete, and how far it is.
type output struct {
	*os.File
	progress *shards.Progress
	at       step
}

// openOutput opens the output and goes to the end of its last part that is as an earlier process wrote it.
func openOutput(path, work string) (*output, error) {
	progress, err := shards.OpenProgress(path+".progress", work, nil)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path+".partial", os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, errors.Join(err, progress.Close())
	}
	o := &output{File: f, progress: progress}
	kept := 0
	for _, line := range progress.Steps {
		var next step
		if json.Unmarshal(line, &next) != nil || next.In < o.at.In || next.Out < o.at.Out || next.Rows < o.at.Rows {
			break
		}
		h := sha256.New()
		n, err := io.Copy(h, io.NewSectionReader(f, o.at.Out, next.Out-o.at.Out))
		if err != nil || n < next.Out-o.at.Out || digest(h) != next.Sum {
			break
		}
		o.at, kept = next, kept+1
	}
	err = progress.Keep(kept)
	if err == nil {
		err = f.Truncate(o.at.Out)
	}
	if err == nil {
		_, err = f.Seek(o.at.Out, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, o.close())
	}
	return o, nil
}

func digest(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)[:16]) }

// add writes a part, which is on the disk when add returns. Its rows end at to in the input.
func (o *output) add(part []byte, to int64, rows int) error {
	if _, err := o.Write(part); err != nil {
		return err
	}
	if err := o.Sync(); err != nil {
		return err
	}
	h := sha256.New()
	h.Write(part)
	o.at = step{In: to, Out: o.at.Out + int64(len(part)), Rows: o.at.Rows + rows, Sum: digest(h)}
	return o.progress.Step(o.at)
}

// close closes both files, and removes them where there is nothing to resume.
func (o *output) close() error {
	if o.File != nil {
		if o.at.Rows == 0 {
			os.Remove(o.Name())
		}
		o.File.Close()
		o.File = nil
		if o.at.Rows == 0 {
			return o.progress.End()
		}
	}
	return o.progress.Close()
}

// finish gives the output its name.
func (o *output) finish(path string) error {
	name := o.Name()
	err := o.File.Close()
	o.File = nil
	if err == nil {
		err = atomicfile.Rename(name, path)
	}
	if err != nil {
		return err
	}
	return o.progress.End()
}
