package cnp

// lineOf returns the engine of a model on a line; nil where it has another.
func lineOf[T Float](m *EquivCNP[T]) *lineEngine[T] {
	e, _ := m.engine.(*lineEngine[T])
	return e
}

// pointsOf returns the engine of a model of lifted points, on a line or elsewhere.
func pointsOf[T Float](m *EquivCNP[T]) *pointsEngine[T] {
	if e := lineOf(m); e != nil {
		return e.pointsEngine
	}
	return m.engine.(*pointsEngine[T])
}

// levelsOf returns the engine of a model with levels.
func levelsOf[T Float](m *EquivCNP[T]) *levelsEngine[T] { return m.engine.(*levelsEngine[T]) }
