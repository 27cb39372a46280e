// Package tabletask makes regression tasks of tables, and tables of predictions.
//
// Columns name the columns of a table. [Read] reads a table of context points and says where to predict: at the rows of
// another table, at even places of an interval, or on a grid of the globe. [Task.Fit] makes the batch that a model of
// package cnp takes; [Task.Predict] predicts it, and [Task.Table] writes the prediction beside the coordinates of the
// targets.
//
// Errors about options are those of package settings. Their text names fields, which a program replaces by its flags.
package tabletask
