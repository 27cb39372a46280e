package serve

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// Certificates returns a configuration for Limits.TLS with the certificate and key of two PEM files. If authorities is not empty, clients
// must bring a certificate of one of those in that file. The files are read again when they change, for connections that begin then;
// while what they hold cannot be used, what was used before goes on, with a line in the log, which may be nil.
func Certificates(cert, key, authorities string, log *slog.Logger) (*tls.Config, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	c := &certificates{files: []string{cert, key}, log: log}
	if authorities != "" {
		c.files = append(c.files, authorities)
	}
	if err := c.read(); err != nil {
		return nil, err
	}
	out := c.config.Clone()
	out.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		config, ends := c.now()
		if ask, ok := hello.Conn.(*endQuestion); ok {
			ask.ends = ends
		}
		return config, nil
	}
	return out, nil
}

// lookEvery is how often files of certificates are looked at, at most.
const lookEvery = time.Second

// certificates are files, and the configuration that was made of them.
type certificates struct {
	files []string
	log   *slog.Logger

	mu     sync.Mutex
	looked time.Time
	states []fileState
	config *tls.Config
	ends   ends   // of its certificates
	failed string // why the files could not be used; empty: they are
}

// now returns the configuration of the files as they are, and when its certificates expire.
func (c *certificates) now() (*tls.Config, ends) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) < lookEvery {
		return c.config, c.ends
	}
	c.looked = time.Now()
	states := c.look()
	if slices.EqualFunc(states, c.states, fileState.same) && c.failed == "" {
		return c.config, c.ends
	}
	c.states = states
	switch err := c.load(); {
	case err == nil:
		c.failed = ""
		c.log.Info("certificates read again")
	case err.Error() != c.failed: // said once, and tried again: what kept them from being read may not show in their state
		c.failed = err.Error()
		c.log.Error("certificates not replaced", "error", c.failed)
	}
	return c.config, c.ends
}

// read reads the files for the first time.
func (c *certificates) read() error {
	c.looked, c.states = time.Now(), c.look()
	return c.load()
}

// look returns what the files look like. One that is not there looks like nothing.
func (c *certificates) look() (out []fileState) {
	for _, path := range c.files {
		out = append(out, lookAt(path))
	}
	return out
}

func (c *certificates) load() error {
	cert, err := safetensors.ReadUpTo(c.files[0], maxSecret)
	if err != nil {
		return fmt.Errorf("serve: certificate: %w", err)
	}
	key, err := safetensors.ReadUpTo(c.files[1], maxSecret)
	if err != nil {
		return fmt.Errorf("serve: key of the certificate: %w", err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return fmt.Errorf("serve: certificate %s and key %s: %w", c.files[0], c.files[1], err)
	}
	ends := ends{server: pair.Leaf.NotAfter}
	config := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	if len(c.files) > 2 {
		b, err := safetensors.ReadUpTo(c.files[2], maxSecret)
		if err != nil {
			return fmt.Errorf("serve: authorities of clients: %w", err)
		}
		config.ClientCAs, config.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
		if !config.ClientCAs.AppendCertsFromPEM(b) {
			return errors.New("serve: authorities of clients: " + c.files[2] + " holds no certificate in PEM")
		}
		ends.clients = firstEnd(b)
	}
	c.config, c.ends = config, ends
	if leaf, now := pair.Leaf, time.Now(); now.Before(leaf.NotBefore) || now.After(leaf.NotAfter) {
		c.log.Warn("the certificate is not valid now: clients will refuse it", "path", c.files[0], "from", leaf.NotBefore,
			"to", leaf.NotAfter)
	}
	return nil
}
