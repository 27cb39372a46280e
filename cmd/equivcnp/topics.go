package main

import (
	"embed"
	"strings"

	"github.com/spf13/cobra"
)

// helpTexts holds what --help says before the flags, one file for each command and topic.
//
//go:embed help/*.txt
var helpTexts embed.FS

// helpText returns the text of a command or topic.
func helpText(name string) string {
	text, err := helpTexts.ReadFile("help/" + name + ".txt")
	must(err)
	return strings.TrimSpace(string(text))
}

// helpExamples returns the examples of a command that has a file of them.
func helpExamples(name string) string { return "  " + helpText(name+"-examples") }

// topics are what "equivcnp help" knows besides the commands.
func topics() (all []*cobra.Command) {
	for _, t := range []struct{ name, short string }{
		{"tables", "Columns, missing values and dates of tables"},
		{"tensors", "Names and shapes of tensors in files and requests"},
		{"models", "Names of models, their units, precision and memory"},
	} {
		all = append(all, &cobra.Command{Use: t.name, Short: t.short, Long: helpText(t.name)})
	}
	return all
}
