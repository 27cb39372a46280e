package main

import "github.com/equivcnp/equivcnp/asm/internal/x86"

// A generator writes all functions of one file, for each level.
type generator struct {
	file  string // zexp makes zexp_amd64.s and zexp_amd64.go; a path, if any, starts in simd
	write func(*x86.File)
}

// Where kernels go that only this repository can call, seen from package simd.
const (
	depthwiseDir = "../internal/depthwise/" // by what package schedule writes
	bf16Dir      = "../internal/bf16/"      // products in bfloat16
)

// registry lists the generated files.
var registry = []generator{
	{"zexp", expAMD64},
	{"zstream", streamAMD64},
	{"zgemm", gemmAMD64},
	{"zgemmi8", gemmI8AMD64},
	{"zactivation", activationAMD64},
	{"zadam", adamAMD64},
	{"zlog", logAMD64},
	{"ztrig", trigAMD64},
	{"zf64math", f64mathAMD64},
	{"zaxpy", axpyAMD64},
	{"zf64maps", f64mapsAMD64},
	{"zspecial", specialAMD64},
	{"zgather", gatherAMD64},
	{"zdepthwise", depthwiseAMD64},
	{"zdepthwiseplan", depthwisePlanAMD64},
	{depthwiseDir + "zpose", depthwisePoseAMD64},
	{depthwiseDir + "zbatch", depthwiseBatchAMD64},
	{depthwiseDir + "zorbits", depthwiseOrbitsAMD64},
	{depthwiseDir + "zorbitsgrad", depthwiseOrbitsGradAMD64},
	{depthwiseDir + "zdots", depthwiseDotsAMD64},
	{bf16Dir + "zdots", gemmDotsAMD64},
	{"zbf16", bf16AMD64},
	{bf16Dir + "ztiles", tilesAMD64},
	{"zpointconv", pointConvAMD64},
	{"zsetconv", setConvAMD64},
	{"zreduce", reduceAMD64},
	{"zsoftmax", softmaxAMD64},
	{"zrows", rowsAMD64},
	{"zelementwise", elementwiseAMD64},
	{"zmoments", momentsAMD64},
	{"znorm", normAMD64},
	{se2Ops.file, se2Ops.write},
	{se3Ops.file, se3Ops.write},
	{mat2Ops.file, mat2Ops.write},
	{mat3Ops.file, mat3Ops.write},
	{mat3LogOps.file, mat3LogOps.write},
	{batchDir + "zwiden", widenAMD64},
	{"../internal/bicubic/zbicubic", bicubicAMD64},
	{"../internal/limits/zlimits", limitsAMD64},
	{"../internal/search/ztree", treeAMD64},
	{"../internal/search/zwithin", withinAMD64},
	{"../internal/search/zcandidates", candidatesAMD64},
	{"../internal/search/zgreatest", greatestAMD64},
	{"../internal/search/zgrid", gridAMD64},
	{spectralDir + "zspectral", spectralAMD64},
	{bandsDir + "zbands", bandsAMD64},
	{blasDir + "zshort", shortAMD64},
}

// levels lists the levels that generators write for.
var levels = []x86.Level{x86.AVX2, x86.AVX512}
