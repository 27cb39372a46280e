// Package race tells the race detector, which cannot see into assembly, what assembly reads and writes. In other builds it does
// nothing.
package race
