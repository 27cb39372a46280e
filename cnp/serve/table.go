package serve

import (
	"net/http"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/internal/mappoints"
)

// readTable answers with the points of the table of text in the body, which the page is given by its visitors. What is reserved covers what
// the reader takes.
func (s *Server) readTable(w http.ResponseWriter, r *http.Request) {
	res := s.bytes.open(r.Context())
	defer res.release()
	p, err := s.tableOf(w, r, res)
	setWriteDeadline(w, mappoints.MaxBytes)
	if err != nil {
		writeError(w, asFailure(err))
		return
	}
	writeJSON(w, http.StatusOK, p)
}

// tableOf reads the body, and the table in it.
func (s *Server) tableOf(w http.ResponseWriter, r *http.Request, res *reservation) (*mappoints.Points, error) {
	up, n := newUpload(w, r, r.ContentLength), r.ContentLength
	most := min(s.opt.Body, mappoints.MaxBytes)
	if n > most {
		up.abandon()
		return nil, tooLarge("the table has %v, at most %v are allowed", cnp.Bytes(n), cnp.Bytes(most))
	}
	if err := res.fits(mappoints.Growth * max(n, 0)); err != nil {
		up.abandon()
		return nil, err
	}
	b, err := fill(nil, up, n, most, res)
	if err != nil {
		return nil, unreadable(err)
	}
	up.done()
	if err := res.take(mappoints.Growth * int64(len(b))); err != nil {
		return nil, err
	}
	q := r.URL.Query()
	p, err := mappoints.Read(b, mappoints.Options{Name: q.Get("name"), Columns: q.Get("columns"), Decimal: q.Get("decimal"),
		Dates: q.Get("dates"), Missing: q.Get("missing")})
	if err != nil {
		return nil, invalid("%v", err)
	}
	return p, nil
}
