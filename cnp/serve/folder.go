package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// fileState is a file as it was when it was read.
type fileState struct {
	path string
	info fs.FileInfo // nil: there was none
}

// same reports whether a file looks as it did. The mode counts, so that a file is read again once it may be; so does which file it is,
// since one that is renamed to the path of another may be as long, and bring an equal time along.
func (f fileState) same(was fileState) bool {
	if f.path != was.path || f.info == nil || was.info == nil {
		return f == was
	}
	return f.info.Size() == was.info.Size() && f.info.ModTime().Equal(was.info.ModTime()) && f.info.Mode() == was.info.Mode() &&
		os.SameFile(f.info, was.info)
}

// lookAt returns what a file, or what a link points to, looks like. One that is not there looks like nothing.
func lookAt(path string) fileState {
	state := fileState{path: path}
	if info, err := os.Stat(path); err == nil {
		state.info = info
	}
	return state
}

// folderState is what folders hold, by the names of models: files that can be looked at, and why others cannot. hidden has the names of
// files, by path, whose name belongs to another one.
type folderState struct {
	found          map[string]fileState
	broken, hidden map[string]string
}

func newFolderState() folderState {
	return folderState{map[string]fileState{}, map[string]string{}, map[string]string{}}
}

// Rescan looks at the folders now: new files are served, changed ones instead of what they were, and what was removed no longer. What a
// request under way uses stays until it is answered. A file that cannot be read leaves all as it was, with a line in the log and in the
// index of models.
func (s *Server) Rescan() error {
	s.scan.Lock()
	defer s.scan.Unlock()
	return s.rescan()
}

// rescan is Rescan; the caller holds scan.
func (s *Server) rescan() error {
	now := newFolderState()
	var errs []error
	for _, dir := range s.opt.Folders {
		if err := now.list(dir); err != nil {
			errs = append(errs, fmt.Errorf("serve: %w", err))
		}
	}
	if len(errs) > 0 { // a folder that is away for a moment takes no model with it
		return errors.Join(errs...)
	}
	s.sayHidden(now)
	before, failures := *s.failures.Load(), map[string]string{}
	for name, why := range before {
		if _, ok := now.found[name]; ok || s.named(name) {
			failures[name] = why
		}
	}
	failed := func(name, path, why string) { // said once, however often it is tried
		if failures[name] = why; before[name] != why {
			message := "model file not served"
			if _, err := s.find(name, ""); err == nil {
				message += "; what was served under its name goes on"
			}
			s.log.Error(message, "model", name, "path", path, "error", why)
		}
	}
	for name, why := range now.broken {
		if _, ok := now.found[name]; !ok && !s.named(name) {
			failed(name, name, why)
		}
	}
	for name, file := range now.found {
		if s.named(name) || s.files[name].same(file) {
			continue
		}
		s.files[name] = file
		err := s.load(context.Background(), Source{Name: name, Path: file.path})
		if err == nil {
			delete(failures, name)
			continue
		}
		var path *fs.PathError
		if errors.As(err, &path) { // it could not be opened, or read: next time it may, though it looks the same
			delete(s.files, name)
		}
		failed(name, file.path, err.Error())
	}
	for _, m := range s.list() {
		_, there := now.found[m.name]
		if _, broken := now.broken[m.name]; !there && !broken && !s.named(m.name) {
			delete(s.files, m.name)
			s.replace(m.name, nil)
			s.log.Info("model removed", "model", m.name)
		}
	}
	maps.DeleteFunc(s.files, func(name string, _ fileState) bool { _, there := now.found[name]; return !there })
	s.failures.Store(&failures)
	return nil
}

// sayHidden warns, once, of files that are not served because another model has their name. The caller holds scan.
func (s *Server) sayHidden(now folderState) {
	for _, m := range s.opt.Models {
		if file, ok := now.found[m.Name]; ok && filepath.Clean(m.Path) != file.path {
			now.hidden[file.path] = m.Name
		}
	}
	for path, name := range now.hidden {
		if s.hidden[path] == "" {
			served := now.found[name].path
			for _, m := range s.opt.Models {
				if m.Name == name {
					served = m.Path
				}
			}
			s.log.Warn("model file not served: another model has its name", "model", name, "path", path, "served", served)
		}
	}
	s.hidden = now.hidden
}

// Reload reads again what the server was started with: the token's file, the models of Options, and the folders. What cannot be read
// stays as it was, and is in the error that it returns.
func (s *Server) Reload() error {
	s.scan.Lock()
	defer s.scan.Unlock()
	s.secret = secretState{file: lookAt(s.opt.TokenFile)}
	errs := []error{s.readToken()}
	if errs[0] != nil {
		s.secret.failed = errs[0].Error()
	}
	failures := maps.Clone(*s.failures.Load())
	for _, src := range s.opt.Models {
		delete(failures, src.Name)
		if err := s.load(context.Background(), src); err != nil {
			failures[src.Name] = err.Error()
			errs = append(errs, fmt.Errorf("serve: model %q: %w", src.Name, err))
		}
	}
	s.failures.Store(&failures)
	clear(s.files)
	err := errors.Join(append(errs, s.rescan())...)
	if err != nil {
		s.log.Error("reloaded, but not all of it", "error", err.Error())
	} else {
		s.log.Info("reloaded")
	}
	return err
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

// list adds the model files of a folder by name. Of two files that differ in their extension safetensors is taken. A file that cannot be
// looked at, such as a link to itself, hides no other.
func (f *folderState) list(dir string) error {
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
		path := filepath.Join(dir, e.Name())
		was, twice := f.found[name]
		if twice && was.path == path { // the folder is given twice
			continue
		}
		if twice && (ext == ".pth" || filepath.Dir(was.path) != filepath.Clean(dir)) {
			f.hidden[path] = name
			continue
		}
		info, err := os.Stat(path) // of what a link points to, as in Kubernetes' config maps
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			f.broken[name] = err.Error()
		case info.Mode().IsRegular():
			if twice {
				f.hidden[was.path] = name
			}
			f.found[name] = fileState{path, info}
		}
	}
	return nil
}

// watch rescans the folders, and looks at the token's file, until ctx is done.
func (s *Server) watch(ctx context.Context) {
	t := time.NewTicker(s.opt.Poll)
	defer t.Stop()
	last := "" // what went wrong before: it is said once
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			s.lookAtToken()
			if len(s.opt.Folders) == 0 {
				continue
			}
			switch err := s.Rescan(); {
			case err == nil:
				last = ""
			case err.Error() != last:
				last = err.Error()
				s.log.Error("a folder of models cannot be read", "error", last)
			}
		}
	}
}
