// Package predict runs models of package cnp from a name to tensors. It is what the program, the server, the Beam pipeline and the examples
// share: whatever one of them can give, all can.
//
// Outputs is the table of the tensors that predictions have: names, shapes and meanings. A Result makes them.
package predict
