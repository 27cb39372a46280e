package describe

import (
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp/pretrained"
)

// mostCommand bounds how much of a file's command is shown. The longest of a shipped model has 3,400 bytes.
const mostCommand = 8000

// commands returns the commands that made a model as lines that a shell runs one after another. What a file says beside them, that a
// training was stopped or what comes first, becomes a comment. The last command of a shipped model writes the model's file.
func commands(path, text string) (lines []string) {
	if len(text) > mostCommand {
		return []string{oneLine(text)}
	}
	steps := strings.Split(text, " && ")
	for i, step := range steps {
		if before, command, ok := strings.Cut(step, ": equivcnp "); ok {
			lines = append(lines, printable("# "+before))
			step = "equivcnp " + command
		}
		comment := ""
		if command, stopped, ok := strings.Cut(step, " (stopped after "); ok {
			step, comment = command, "  # stopped after "+strings.TrimSuffix(stopped, ")")+" steps"
		}
		if i == len(steps)-1 && slices.Contains(pretrained.Names(), path) && strings.HasPrefix(step, "equivcnp ") &&
			!strings.Contains(step, " --out ") {
			step += " --out " + path + ".safetensors"
		}
		lines = append(lines, printable(step+comment))
	}
	return lines
}
