package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

// A peer is a library or program that is measured beside this one.
type peer struct {
	Names   []string `json:"names"` // beginnings of what lines call it
	Title   string   `json:"title"`
	Version string   `json:"version"`
}

func (p peer) equal(q peer) bool {
	return p.Title == q.Title && p.Version == q.Version && slices.Equal(p.Names, q.Names)
}

func (p peer) String() string { return p.Title + " " + p.Version }

// peerPackages are the Debian packages that the peers' programs are linked with, by the beginning of the part of a line's name that
// says who is measured.
var peerPackages = []struct {
	title, pkg string
	names      []string
}{
	{"OpenBLAS", "libopenblas-dev", []string{"openblas"}},
	{"BLIS", "libblis-dev", []string{"blis"}},
	{"libxsmm", "libxsmm-dev", []string{"libxsmm"}},
	{"Eigen", "libeigen3-dev", []string{"eigen"}},
	{"oneDNN", "libdnnl-dev", []string{"onednn"}},
	{"SLEEF", "libsleef-dev", []string{"sleef", "soa_sleef"}},
	{"nanoflann", "libnanoflann-dev", []string{"nanoflann"}},
	{"g++ -O3 with glibc's libmvec", "g++", []string{"libmvec",
		"soa", "gcc", "plain", "grid_plain", "avx2", "avx512", "fused", "row", "direct"}},
}

// installedPeers are the peers whose versions can be told: Debian's packages, a newer oneDNN (see bench/peers/onednn3), XNNPACK (see
// bench/peers/xnnpack) and ONNX Runtime beside the peers' networks, and gonum, which this program is built with.
func installedPeers(dir string) []peer {
	var all []peer
	for _, p := range peerPackages {
		out, err := exec.Command("dpkg-query", "-W", "-f", "${Version}", p.pkg).Output()
		if v := strings.TrimSpace(string(out)); err == nil && v != "" {
			all = append(all, peer{p.names, p.title, v})
		}
	}
	if out, err := exec.Command(filepath.Join(dir, "convnet", "bin", "onednn3"), "version").Output(); err == nil {
		all = append(all, peer{[]string{"onednn3"}, "oneDNN", strings.TrimSpace(string(out))})
	}
	if out, err := exec.Command(filepath.Join(dir, "convnet", "bin", "xnnpack"), "--version").Output(); err == nil {
		all = append(all, peer{[]string{"xnnpack"}, "XNNPACK", strings.TrimSpace(string(out))})
	}
	var npm struct{ Version string }
	if b, err := os.ReadFile(filepath.Join(dir, "convnet", "node_modules", "onnxruntime-node", "package.json")); err == nil {
		if json.Unmarshal(b, &npm) == nil && npm.Version != "" {
			all = append(all, peer{[]string{"ort"}, "ONNX Runtime", npm.Version})
		}
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == "gonum.org/v1/gonum" {
				all = append(all, peer{[]string{"gonum"}, "gonum", d.Version})
			}
		}
	}
	return all
}

// versionOf returns the title and version of whom a line calls so, "" if the file does not name the version. The longest beginning decides.
func (h *reportHead) versionOf(who string) string {
	best, found := -1, ""
	for _, p := range h.Peers {
		for _, name := range p.Names {
			if strings.HasPrefix(who, name) && len(name) > best && p.Version != "" {
				best, found = len(name), p.Title+" "+p.Version
			}
		}
	}
	return found
}

// versionsOf asks the program of bench/peers which libraries it was built with.
func versionsOf(program string) ([]peer, error) {
	abs, err := filepath.Abs(program)
	if err != nil {
		return nil, err
	}
	out, err := exec.Command(abs, "--versions").Output()
	if err != nil {
		return nil, err
	}
	var all []peer
	if err := json.Unmarshal(out, &all); err != nil {
		return nil, fmt.Errorf("%s --versions: %w", program, err)
	}
	return all, nil
}

// fileDigest returns the first digits of the file's SHA-256.
func fileDigest(path string) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return fmt.Sprintf("%x", sum[:6]), nil
}
