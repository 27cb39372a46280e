module github.com/equivcnp/equivcnp/bench/peers

go 1.26.0

require (
	github.com/coder/hnsw v0.6.1
	github.com/equivcnp/equivcnp v0.0.0
	github.com/kyroy/kdtree v0.0.0-20200419114247-70830f883f1d
	github.com/viterin/vek v0.4.3
	gonum.org/v1/gonum v0.17.0
)

require (
	github.com/chewxy/math32 v1.10.1 // indirect
	github.com/google/renameio v1.0.1 // indirect
	github.com/klauspost/cpuid/v2 v2.4.2 // indirect
	github.com/kyroy/priority-queue v0.0.0-20180327160706-6e21825e7e0c // indirect
	github.com/viterin/partial v1.1.0 // indirect
	golang.org/x/exp v0.0.0-20240506185415-9bf2ced13842 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/equivcnp/equivcnp => ../..
