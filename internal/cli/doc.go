// Package cli has what a program of many commands needs beside cobra: files that appear complete or not at all, reads that an
// interruption ends, flags from a YAML file, in groups, and of other types than Go's, and errors of usage.
package cli
