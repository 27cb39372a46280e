package main

import "github.com/equivcnp/equivcnp/asm/internal/neon"

// A neonGenerator writes all functions of one arm64 file.
type neonGenerator struct {
	file  string // zexp makes zexp_arm64.s and zexp_arm64.go; a path, if any, starts in simd
	write func(*neon.File)
}

// neonRegistry lists the generated arm64 files. Every arm64 machine has Advanced SIMD, so there is one level, and no
// list of features that a function must keep to.
var neonRegistry = []neonGenerator{
	{"zactivation", activationNEON},
	{"zactivationgrad", activationGradNEON},
	{"zadam", adamNEON},
	{"zaxpy", axpyNEON},
	{"zbf16", bf16NEON},
	{"zdepthwise", depthwiseNEON},
	{depthwiseDir + "zbatch", depthwiseBatchNEON},
	{depthwiseDir + "zorbits", depthwiseOrbitsNEON},
	{"zdepthwiseplan", depthwisePlanNEON},
	{depthwiseDir + "zpose", depthwisePoseNEON},
	{"../internal/bicubic/zbicubic", bicubicNEON},
	{"zexp", expNEON},
	{"zf64math", f64mathNEON},
	{"zf64maps", f64mapsNEON},
	{"zspecial", specialNEON},
	{"zgather", gatherNEON},
	{"zgemm", gemmNEON},
	{"../internal/search/zgrid", gridNEON},
	{"zlog", logNEON},
	{"zmoments", momentsNEON},
	{"znorm", normNEON},
	{"zpointconv", pointConvNEON},
	{"zreduce", reduceNEON},
	{"zrows", rowsNEON},
	{"zelementwise", elementwiseNEON},
	{"zsetconv", setConvNEON},
	{"../internal/search/zsmallest", smallestNEON},
	{"../internal/search/ztree", treeNEON},
	{"../internal/search/zwithin", withinNEON},
	{"../internal/search/zcandidates", candidatesNEON},
	{"ztrig", trigNEON},
	{se2Ops.file, se2Ops.writeNEON},
	{se3Ops.file, se3Ops.writeNEON},
	{mat2Ops.file, mat2Ops.writeNEON},
	{mat3Ops.file, mat3Ops.writeNEON},
	{mat3LogOps.file, mat3LogOps.writeNEON},
	{batchDir + "zwiden", widenNEON},
	{"../internal/limits/zlimits", limitsNEON},
	{spectralDir + "zspectral", spectralNEON},
}

// renderNEON writes one file of the registry in memory: the assembly, then the declarations.
func renderNEON(g neonGenerator) []output {
	f := neon.NewFile(packageOf(g.file), "!purego")
	g.write(f)
	return []output{{g.file + "_arm64.s", f.Assembly()}, {g.file + "_arm64.go", f.Stubs()}}
}
