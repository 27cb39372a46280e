package selection_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/equivcnp/equivcnp/cnp/recipe"
	"github.com/equivcnp/equivcnp/cnp/selection"
)

// Example asks which of two groups the made-up fields of a plane have. Trainings as short as these, which take a second, tell nothing yet:
// Budget lets them take as long as there is time.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	r := recipe.DefaultCurves()
	r.Data.Plane, r.Batch, r.Channels, r.Hidden, r.Mid = "radial", 2, []int{3, 4}, 4, 3
	c := selection.Default(&r, dir)
	c.Groups, c.Steps, c.Tasks = []string{"T2", "SO2"}, 4, 8
	report, err := selection.Run(context.Background(), c)
	if err != nil {
		log.Fatal(err)
	}
	last := report.Rounds[len(report.Rounds)-1]
	fmt.Println(len(last.Candidates), "candidates; the best one is saved:", report.Model != "")
	// Output: 2 candidates; the best one is saved: true
}
