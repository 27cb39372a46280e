package main

// hangUp sends this process the signal by which servers read everything again; nil where there is none.
var hangUp func() error
