package serve

import (
	"fmt"
	"os"
	"strings"

	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/cnp/settings"
	"github.com/equivcnp/equivcnp/cnp/weights"
)

// Sources reads what names models: NAME=FILE, FILE or a shipped model under its own name, folders, and the words shipped and
// universal for all shipped models and all interpolations. Without any it is these two.
func Sources(list []string) (models []Source, folders []string, err error) {
	for _, text := range list {
		if names, all := sets[text]; all {
			models = append(models, sourcesOf(names())...)
			continue
		}
		name, path, named := strings.Cut(text, "=")
		if !named {
			name, path = "", text
		}
		info, err := os.Stat(path)
		if err != nil && path != "" && os.IsPathSeparator(path[len(path)-1]) { // a folder, which has no name that a model could have
			return nil, nil, fmt.Errorf("serve: folder of models: %w", err)
		}
		if err == nil && info.IsDir() {
			if named {
				return nil, nil, settings.Errorf("{Model} %s: models of a folder have the names of their files", text)
			}
			folders = append(folders, path)
			continue
		}
		if !named {
			name = path[strings.LastIndexAny(path, `/\`)+1:]
			for _, ending := range []string{".safetensors", ".pth", weights.EnsembleEnding} {
				name = strings.TrimSuffix(name, ending)
			}
		}
		models = append(models, Source{Name: name, Path: path})
	}
	if len(list) == 0 {
		models = append(sourcesOf(pretrained.Names()), sourcesOf(krige.Names())...)
	}
	return models, folders, nil
}

// sets are the words that stand for several models.
var sets = map[string]func() []string{"shipped": pretrained.Names, "universal": krige.Names}

func sourcesOf(names []string) (models []Source) {
	for _, name := range names {
		models = append(models, Source{Name: name, Path: name})
	}
	return models
}
