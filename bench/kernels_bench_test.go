package main

import (
	"strings"
	"testing"

	"github.com/equivcnp/equivcnp/simd"
)

// BenchmarkKernel runs the cases of the command kernels as Go benchmarks, readable by benchstat, as
// BenchmarkKernel/case=gemm:4096x128x128/impl=avx512. Their rate is the case's own first metric.
func BenchmarkKernel(b *testing.B) {
	for _, k := range kernelCases() {
		b.Run("case="+strings.ReplaceAll(strings.ReplaceAll(k.name, "/ours", ""), "/", ":"), func(b *testing.B) {
			run := k.make()
			err := atLevels(simd.Levels(), func(l simd.Level) error {
				b.Run("impl="+l.String(), func(b *testing.B) {
					for b.Loop() {
						run.ours()
					}
					m := k.metrics[0]
					b.ReportMetric(m.value(b.Elapsed().Seconds()/float64(b.N)), m.metric)
				})
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}
