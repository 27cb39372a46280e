package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// fileState is a model file of a folder as it was when it was read.
type fileState struct {
	path string
	size int64
	time time.Time
}

// Rescan looks at the folders now: new files are served, changed ones instead of what they were, and what was removed no longer. What a
// request under way uses stays until it is answered. A file that cannot be read leaves all as it was, with a line in the log and in the index of models.
func (s *Server) Rescan() error {
	s.scan.Lock()
	defer s.scan.Unlock()
	found := map[string]fileState{}
	var errs []error
	for _, dir := range s.opt.Folders {
		if err := listFolder(dir, found); err != nil {
			errs = append(errs, fmt.Errorf("serve: %w", err))
		}
	}
	if len(errs) > 0 { // a folder that is away for a moment takes no model with it
		return errors.Join(errs...)
	}
	failures := map[string]string{}
	for name, why := range *s.failures.Load() {
		if _, ok := found[name]; ok {
			failures[name] = why
		}
	}
	for name, now := range found {
		if s.named(name) || s.files[name] == now {
			continue
		}
		s.files[name] = now
		if err := s.load(context.Background(), Source{Name: name, Path: now.path}); err != nil {
			failures[name] = err.Error()
			s.log.Error("model file not served; what was served under its name goes on", "model", name, "path", now.path, "error", err.Error())
			continue
		}
		delete(failures, name)
	}
	for name := range s.files {
		if _, ok := found[name]; !ok {
			delete(s.files, name)
			s.replace(name, nil)
			s.log.Info("model removed", "model", name)
		}
	}
	s.failures.Store(&failures)
	return nil
}

// named reports whether Options.Models has a model of that name, which no file replaces.
func (s *Server) named(name string) bool {
	for _, m := range s.opt.Models {
		if m.Name == name {
			return true
		}
	}
	return false
}

// listFolder adds the model files of a folder by name. Of two files that differ in their extension safetensors is taken.
func listFolder(dir string, found map[string]fileState) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		name := strings.TrimSuffix(e.Name(), ext)
		if (ext != ".safetensors" && ext != ".pth") || strings.HasPrefix(name, ".") {
			continue
		}
		if was, ok := found[name]; ok && (ext == ".pth" || filepath.Dir(was.path) != filepath.Clean(dir)) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path) // of what a link points to, as in Kubernetes' config maps
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return err
		}
		if info.Mode().IsRegular() {
			found[name] = fileState{path, info.Size(), info.ModTime()}
		}
	}
	return nil
}

// watch rescans the folders until ctx is done.
func (s *Server) watch(ctx context.Context) {
	t := time.NewTicker(s.opt.Poll)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			if err := s.Rescan(); err != nil {
				s.log.Error("a folder of models cannot be read", "error", err.Error())
			}
		}
	}
}
