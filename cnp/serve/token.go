package serve

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// token is what requests must bring, as a digest, so that comparing takes the same time whatever comes.
type token [sha256.Size]byte

func newToken(text string) *token {
	t := token(sha256.Sum256([]byte(text)))
	return &t
}

// fits reports whether a header brings the token. The scheme may be written in any case, as HTTP has it.
func (t *token) fits(header string) bool {
	scheme, text, _ := strings.Cut(strings.TrimSpace(header), " ")
	sum := sha256.Sum256([]byte(strings.TrimSpace(text)))
	return strings.EqualFold(scheme, "bearer") && subtle.ConstantTimeCompare(sum[:], t[:]) == 1
}

// maxSecret bounds the files of tokens, keys and certificates.
const maxSecret = 1 << 20

// readToken sets the token that requests must bring from Options.
func (s *Server) readToken() error {
	text, from := strings.TrimSpace(s.opt.Token), "Token"
	if s.opt.TokenFile != "" {
		from = s.opt.TokenFile
		b, err := safetensors.ReadUpTo(s.opt.TokenFile, maxSecret)
		if err != nil {
			return fmt.Errorf("serve: token: %w", err)
		}
		if text = strings.TrimSpace(string(b)); text == "" {
			return fmt.Errorf("serve: token: %s: there is none in it", s.opt.TokenFile)
		}
	} else if s.opt.Token != "" && text == "" {
		return errors.New("serve: Token is nothing but spaces")
	}
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Errorf("serve: token: %s: no header can bring it, need one line of characters that can be printed", from)
	}
	if text == "" {
		s.token.Store(nil)
	} else {
		s.token.Store(newToken(text))
	}
	return nil
}

// secretState is the token's file as it was when it was read, and why it could not be. scan guards it.
type secretState struct {
	file   fileState
	failed string
}

// lookAtToken reads the token's file again if it has changed, as a secret of Kubernetes does where nobody sends a signal. What it held
// before counts while it cannot be read.
func (s *Server) lookAtToken() {
	if s.opt.TokenFile == "" {
		return
	}
	s.scan.Lock()
	defer s.scan.Unlock()
	now := lookAt(s.opt.TokenFile)
	if now.same(s.secret.file) && s.secret.failed == "" {
		return
	}
	s.secret.file = now
	switch err := s.readToken(); {
	case err == nil:
		s.secret.failed = ""
		s.log.Info("token read again")
	case err.Error() != s.secret.failed: // said once, and tried again
		s.secret.failed = err.Error()
		s.log.Error("token not replaced", "error", s.secret.failed)
	}
}

// denied counts requests without the token between two lines of the log, which are at least a second apart.
type denied struct {
	mu   sync.Mutex
	last time.Time
	n    int
}

func (d *denied) warn(log *slog.Logger, client, path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.n++
	if now := time.Now(); now.Sub(d.last) >= time.Second {
		log.Warn("requests without the token", "requests", d.n, "client", client, "path", path)
		d.last, d.n = now, 0
	}
}
