package serve

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// schema is what the protocol's description of REST says of a JSON value: an object of these fields, or a list of items, or of that type.
type schema struct {
	kind     string // string, integer, number, object, array
	fields   map[string]*schema
	required []string
	items    *schema
	closed   bool // no other fields
}

var (
	stringSchema = &schema{kind: "string"}
	listSchema   = &schema{kind: "array", items: stringSchema}
	shapeSchema  = &schema{kind: "array", items: &schema{kind: "integer"}}
	errorSchema  = &schema{kind: "object", fields: map[string]*schema{"error": stringSchema}, required: []string{"error"}, closed: true}
	serverSchema = &schema{kind: "object", required: []string{"name", "version", "extensions"},
		fields: map[string]*schema{"name": stringSchema, "version": stringSchema, "extensions": listSchema}, closed: true}
	tensorSchema = &schema{kind: "object", required: []string{"name", "datatype", "shape"},
		fields: map[string]*schema{"name": stringSchema, "datatype": stringSchema, "shape": shapeSchema}, closed: true}
	modelSchema = &schema{kind: "object", required: []string{"name", "platform"}, closed: true,
		// as over gRPC
		fields: map[string]*schema{"name": stringSchema, "versions": listSchema, "platform": stringSchema, "properties": {kind: "object"},
			"inputs": {kind: "array", items: tensorSchema}, "outputs": {kind: "array", items: tensorSchema}}}
	inferSchema = &schema{kind: "object", required: []string{"model_name", "outputs"}, closed: true,
		fields: map[string]*schema{"model_name": stringSchema, "model_version": stringSchema, "id": stringSchema,
			"parameters": {kind: "object"},
			"outputs": {kind: "array", items: &schema{kind: "object", required: []string{"name", "shape", "datatype", "data"}, closed: true,
				fields: map[string]*schema{"name": stringSchema, "shape": shapeSchema, "datatype": stringSchema,
					"parameters": {kind: "object"},
					"data":       {kind: "array", items: &schema{kind: "number"}}}}}}}
)

// check reports where a value is not what the schema says.
func (s *schema) check(at string, v any) error {
	switch v := v.(type) {
	case string:
		if s.kind == "string" {
			return nil
		}
	case float64:
		if s.kind == "number" || s.kind == "integer" && v == float64(int64(v)) {
			return nil
		}
	case []any:
		if s.kind == "array" {
			for i, x := range v {
				if err := s.items.check(fmt.Sprintf("%s[%d]", at, i), x); err != nil {
					return err
				}
			}
			return nil
		}
	case map[string]any:
		if s.kind != "object" {
			break
		}
		for _, name := range s.required {
			if _, ok := v[name]; !ok {
				return fmt.Errorf("%s has no %s", at, name)
			}
		}
		for name, x := range v {
			if f := s.fields[name]; f != nil {
				if err := f.check(at+"."+name, x); err != nil {
					return err
				}
			} else if s.closed {
				return fmt.Errorf("%s has %s, which is not in the protocol", at, name)
			}
		}
		return nil
	}
	return fmt.Errorf("%s is %v, no %s", at, v, s.kind)
}

// TestSchema: answers in JSON are what the protocol's description says, fields and types.
func TestSchema(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Version = "1" })
	b := curvesJSON(t, curves(rngOf(1), 1, 2, 2))
	withID := object(t, b)
	withID["id"] = "x"
	far := curves(rngOf(1), 1, 2, 2)
	far.XTarget[0] = 1e12
	text, err := json.Marshal(withID)
	require.NoError(t, err)
	for _, c := range []struct {
		method, path string
		body         []byte
		status       int
		schema       *schema
	}{
		{"GET", "/v2/", nil, 200, serverSchema},
		{"GET", "/v2/models/rbf", nil, 200, modelSchema},
		{"GET", "/v2/models/digits/versions/1", nil, 200, modelSchema},
		{"POST", "/v2/models/rbf/infer", b, 200, inferSchema},
		{"POST", "/v2/models/rbf/versions/1/infer", text, 200, inferSchema},
		{"POST", "/v2/models/rbf/infer", []byte("{"), 400, errorSchema},
		{"POST", "/v2/models/rbf/infer", curvesJSON(t, far), 400, errorSchema},
		{"POST", "/v2/models/none/infer", b, 404, errorSchema},
		{"GET", "/v2/models/none", nil, 404, errorSchema},
		{"DELETE", "/v2/models/rbf", nil, 405, errorSchema},
	} {
		w := do(s, c.method, c.path, nil, c.body)
		require.Equal(t, c.status, w.Code, "%s %s: %s", c.method, c.path, w.Body)
		var v any
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &v))
		require.NoError(t, c.schema.check("answer", v), "%s %s", c.method, c.path)
	}
}
