package linalg

// ExpSO3 writes the rotation matrix of the rotation vector w.
func ExpSO3(dst *[9]float64, w *[3]float64) { ExpQuat(w).Matrix(dst) }

// LogSO3 writes the rotation vector of the rotation matrix m, of length at most π. It is accurate at every angle; at π
// itself, where w and -w are both right, either may come out.
func LogSO3(dst *[3]float64, m *[9]float64) { MatrixQuat(m).Log(dst) }

// ComposeSO3 writes log(exp(a)·exp(b)); dst may be a or b.
func ComposeSO3(dst, a, b *[3]float64) { ExpQuat(a).Mul(ExpQuat(b)).Log(dst) }
