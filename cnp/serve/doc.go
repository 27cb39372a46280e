// Package serve answers inference requests for the models of package cnp over HTTP: the Open Inference Protocol, version 2, that clients
// of KServe and Triton speak, as REST with JSON or binary tensors and as gRPC, on one port.
//
//	s, err := serve.New(serve.Options{Models: []serve.Source{{Name: "digits", Path: "digits-T2"}}})
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	return s.ListenAndServe(ctx, ":8080", serve.Limits{})
//
// A Server is an http.Handler as well, for a program that has a server of its own.
//
// # The way of a request
//
// rest.go and grpc.go turn bytes into a request (request.go), which does not depend on the protocol it came by. A model (model.go, read
// by read.go) makes a job of it (prepare.go): images or curves, checked by package taskfile as files of tasks are, and the plan of their
// geometry (plans.go). The queue (queue.go) puts jobs of one model and geometry into a batch as soon as a worker is free, and refuses at
// once what it could not answer in time; compute.go predicts the batch. The table in outputs.go lists the tensors that go back.
//
// # What is bounded
//
// Options.Memory is for everything: models and plans, which leave in the order in which they were last used, and the requests and answers
// that are under way. Items and seconds that wait are bounded as well. What is refused is refused before it is computed, most of it
// before it is read.
package serve
