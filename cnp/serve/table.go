package serve

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/internal/mappoints"
)

// readTable answers with the points of the table of text in the body, which the page is given by its visitors. What is reserved covers what
// the reader takes.
func (s *Server) readTable(w http.ResponseWriter, r *http.Request) {
	res := s.bytes.open(r.Context())
	defer res.release()
	b, err := s.tableOf(w, r, res)
	var p any
	if err == nil {
		p, err = pointsOf(b, r.URL.Query())
	}
	setWriteDeadline(w, mappoints.MaxBytes)
	if err != nil {
		writeError(w, asFailure(err))
		return
	}
	writeJSON(w, http.StatusOK, p)
}

// pointsOf reads the table in a body, of places in the plane or, if the kind says so, of a series.
func pointsOf(b []byte, q url.Values) (p any, err error) {
	opt := mappoints.Options{Name: q.Get("name"), Columns: q.Get("columns"), Decimal: q.Get("decimal"), Dates: q.Get("dates"),
		Missing: q.Get("missing")}
	switch kind := q.Get("kind"); kind {
	case "", "map":
		p, err = mappoints.Read(b, opt)
	case "series":
		p, err = mappoints.ReadSeries(b, opt)
	default:
		err = fmt.Errorf("kind %.20q: need map or series", kind)
	}
	if err != nil {
		return nil, invalid("%v", err)
	}
	return p, nil
}

// tableOf reads the body.
func (s *Server) tableOf(w http.ResponseWriter, r *http.Request, res *reservation) ([]byte, error) {
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
	return b, nil
}
