// Package inference holds the messages of the Open Inference Protocol over gRPC, generated from inference.proto.
package inference

//go:generate go run -C ../tools ./protogen ../inference/inference.proto
