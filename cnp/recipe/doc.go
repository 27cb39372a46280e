// Package recipe trains models from plain structs, as "equivcnp train" does from flags. A recipe ([Curves] or [Images]) says where
// the tasks come from, what the model is and how long it trains; its defaults are those of the program. [Curves.Plan] and
// [Images.Plan] read the data and settle everything that the recipe leaves open, and [Plan.Train] does the training:
//
//	r := recipe.DefaultCurves()
//	r.Data.CSV, r.Data.X, r.Data.Y = "stations.csv", []string{"east", "north"}, []string{"rain"}
//	r.Steps = 2000
//	plan, err := r.Plan(ctx)
//	...
//	trained, err := plan.Train(ctx, recipe.Options{})
//	...
//	err = trained.Save("rain.safetensors")
//
// Equal recipes give equal models, bit for bit, on machines of one instruction set level.
package recipe
