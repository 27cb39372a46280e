// Package design says where to measure next. From a joint prediction at candidates and targets it chooses, one after
// the other, the candidates
// whose measurement would tell most about the targets: whose values lower the targets' joint entropy most, or the mean of their variances.
//
//	b, err := design.FromSamples(samples, candidates, noise) // of krige.Model.Functions, or of a model by the chain rule
//	chosen, err := b.Choose(5, design.Entropy)
//
// Under a joint normal what a measurement tells does not depend on the value that it will have, so that a whole set
// can be chosen in advance.
// A greedy choice has at least 1 - 1/e of the best set's gain in entropy (Krause, Singh and Guestrin 2008), and usually nearly all of it.
package design
