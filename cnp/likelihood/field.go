package likelihood

// FieldType says how a field's values move with their places.
type FieldType string

// The types of fields.
const (
	// Scalar is one number at every place, such as a temperature, which stays as it is when the place moves.
	Scalar FieldType = "scalar"
	// Vector is as many numbers as a place has coordinates, such as a wind. They turn when places are turned.
	Vector FieldType = "vector"
)

// FieldTypes lists them in the order of documentation.
var FieldTypes = []FieldType{Scalar, Vector}

// Field is a part of the values of a point: Width numbers from First on.
type Field struct {
	Type         FieldType
	First, Width int
}

// Output says what a model's second output is.
type Output string

// The outputs.
const (
	OutputVariance Output = "variance" // the authors' 1D models
	OutputStd      Output = "std"      // the authors' image models
)
