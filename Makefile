# EquivCNP in Go. `make` builds the program, `make demo` runs the main job, `make test` the tests.

GO      ?= go
BIN     := bin/equivcnp
FUZZFOR ?= 10s

.PHONY: all build demo clients manifests page browser house test long race race-kernels race-models race-training race-serve purego levels wasm generate asm api api-update beam fmt vet lint lint-long cross platforms arm64 avx512 fuzz fuzz-long bench clean

all: build

build: ## the program, bin/equivcnp
	$(GO) build -o $(BIN) ./cmd/equivcnp

demo: build ## complete a digit with every shipped model
	@mkdir -p out
	$(BIN) demo --out out/digit.png

clients: ## ask the server with clients that others wrote: curl, grpcurl, vegeta, grpc-js, numpy
	cnp/serve/clients/run.sh

manifests: ## the Kubernetes manifests against the schemas of k8s.io/api
	cd cnp/serve/tools && $(GO) run ./manifests ../../../deploy/kubernetes/*.yaml ../../../deploy/batch/*.yaml

browser: ## the page in a real browser (Debian: chromium, or firefox-esr, and nodejs, npm); pictures in out/browser
	cnp/serve/page/browser/run.sh

beam: ## the Beam pipeline, a module of its own: its tests on Beam's local runner
	cd beam && $(GO) vet ./... && $(GO) test -short ./...

page: ## the page of the server as static files, with the engine as WebAssembly, in out/page
	$(GO) run ./cmd/page-wasm -out out/page

house: ## counts of knots of files, long functions, wide lines and names, held to their limits
	@out=$$(EQUIVCNP_HOUSE=1 $(GO) test -count=1 -run 'TestKnots|TestHouse' -v .); status=$$?; echo "$$out" | grep -v '^='; exit $$status

test: ## all tests
	$(GO) test -timeout 30m ./...

long: ## what the tests leave out: every number, every model, every form; hours
	$(GO) test -count=1 -timeout 24h $$(grep -rl --include='*_test.go' 'flag.Bool("long"' . | xargs -n1 dirname | sort -u) -long

# Long tests of single calls or of arithmetic, which the detector makes ten times as slow; others run the same goroutines. RACESKIP='^$$' runs all.
# One pattern for names of tests alone: with a second one, beside it or for subtests, package testing compiles both anew for every subtest.
RACESKIP := ^Test(FarAway|GoldenGrids|RadiusForFillIsMet|ShrinkFarAway|SphereLattice|TreeAgainstBruteForce|Arrange|ArrangeGrid|Bits|BoundBoxHoldsTheBall|CompressionBomb|ConvolutionGradients|GoldenImageNeighbourhoods|GoldenLayersF32|Guard|Lattice|MergeTolerance|SeedsDoNotShow|Sim2Translation|TranslationErrorBoundsPoses|Vectors|BetweenNodes|GoldenGradientsF32|GoldenGradientsF64|GemmTiles|GridSingleQueries|RadiusForFillBySampling|RadiusForMean|PoseTableCrowded|TreeFindsWhatAScanFinds|FlatAgainstGroups|RotationsDoNotShow|F32Accuracy|Accuracy|WeightNet|WeightNetSwish|WeightedMoments|Batches|DepthwiseTall|DepthwiseLargeWeights|SetConvGrad|SetConvTiles|TileProducts|GatherMax|GoldenLayersF64|PyramidGradients|Band|Transforms|PairsRemembered|PairsTransforms|NodesFineEnough|PlannedBetweenNodes|EmbeddingTransforms|BallIsExact|KNearestIsExact|Classes|Amplified|Capped|InterpolationParameters|InterpolationParametersGRPC|InterpolationRobust|Nothing|PairsDepthwiseF64)$$
# What starts goroutines, and what they run: tables, pictures and files of other programs are read by one. The long ones first, so that the run
# does not end with one of them on one core.
RACED := ./layers/... ./neighbor/... ./simd/... ./linalg/batch/... ./group $(addprefix ./internal/,bands bf16 bicubic cli cpu depthwise frozen parallel schedule search spectral)
RACES := race-kernels race-serve race-models race-training
race $(RACES): export CGO_ENABLED = 1
race: ## the concurrent packages under the race detector; two runs at a time, as each ends with one long package
	@$(MAKE) --no-print-directory -j2 --output-sync=target $(RACES)
race-kernels:
	$(GO) test -race -short -timeout 30m -skip '$(RACESKIP)' $(RACED)
	$(GO) test -race -short -timeout 30m -run '^Test(SameBits|Mat)$$' ./linalg/blas
race-models:
	$(GO) test -race -short -timeout 30m -run '^Test(GradientBits|EquivarianceOnPoints|Chunks|Images|Cancel$$|Valid|Plan(Concurrent|Cancelled|CacheFollows)|CurvePlan(Concurrent|Cancelled))' ./cnp
race-training:
	$(GO) test -race -short -timeout 30m -run '^Test(SameBits|CheckpointEvery|AdamBits|Source|ImageSource|Equivariance|Meter)$$' ./cnp/train ./cnp/task ./cnp/eval
race-serve:
	$(GO) test -race -short -timeout 30m -skip '$(RACESKIP)' ./cnp/serve/...

# What computes with kernels, and so in another way at another level.
NUMERIC := ./simd/... ./internal/depthwise ./internal/bf16 ./linalg/batch ./internal/search/... ./layers/...
# What stands above the kernels is the same code as at level generic.
purego: ## without assembly
	$(GO) test -short -tags purego ./simd/... ./internal/depthwise ./internal/bf16 ./linalg/batch ./internal/search/...

levels: ## the numeric packages at every instruction set level below this machine's best, which `make test` runs
	@all=$$($(GO) run ./bench levels) || exit 1; \
	for l in $$(echo "$$all" | head -n -1); do \
		echo "level $$l"; \
		EQUIVCNP_SIMD=$$l $(GO) test -count=1 -short $(NUMERIC) || exit 1; \
	done

# The toolchain whose simd/archsimd has WebAssembly's vectors, as in cmd/page-wasm; nothing else needs it. What is skipped has no kernels there.
VECTORS := go1.27.0
WASMSKIP := ^Test(Accuracy|DepthwisePlanGradW|F32FromBF16|Gemv)$$
wasm: ## the kernels for WebAssembly's vectors (level wasm128), in node; skipped, with a message, where there is no toolchain or no node, unless WASM_REQUIRED is set
	@export GOTOOLCHAIN=$(VECTORS) GOEXPERIMENT=simd; \
	if ! $(GO) version >/dev/null || ! command -v node >/dev/null; then \
		echo "wasm: skipped: needs $(VECTORS) and node"; test -z "$(WASM_REQUIRED)"; exit; \
	fi; \
	exec=$$($(GO) env GOROOT)/lib/wasm/go_js_wasm_exec; \
	GOOS=js GOARCH=wasm CGO_ENABLED=0 $(GO) test -vet=off -short -exec $$exec -skip '$(WASMSKIP)' ./internal/cpu ./simd ./internal/depthwise ./internal/search

generate: ## regenerate what is generated
	$(GO) generate ./...

api: ## every public package exports what api/*.txt says, and no type of an internal package
	$(GO) run ./bench/api -all

api-update: ## write api/*.txt anew, for review
	$(GO) run ./bench/api -update

asm: ## the generators' own tests: drift, features per level, arm64 words decoded back
	cd asm && $(GO) vet ./... && $(GO) test -count=1 ./...

fmt: ## list files that gofmt would change
	@test -z "$$(gofmt -l .)" || { gofmt -l .; exit 1; }

vet: ## the main module (asm and the Beam pipeline are vetted where they are tested, the server's tools by lint)
	$(GO) vet ./...

# Which version asm/go.mod says. It analyses the build of this machine; see staticcheck.conf.
lint: ## staticcheck's checks of every module's own packages
	cd asm && $(GO) run ./lint .. . ../cnp/serve/tools

lint-long: ## staticcheck itself, which reads everything that is imported, too: five minutes at first
	cd asm && $(GO) build -o ../bin/staticcheck honnef.co/go/tools/cmd/staticcheck
	for m in . asm cnp/serve/tools; do (cd $$m && $(CURDIR)/bin/staticcheck ./...) || exit 1; done

# Everything that people build for; js and the 32-bit and big-endian machines keep assumptions about int and byte order out.
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64 linux/386 linux/riscv64 linux/s390x js/wasm
# Listing exports compiles every package and links none; the two programs that are linked have all kernels in them.
cross: ## build for every platform
	@for p in $(PLATFORMS); do \
		echo "build $$p"; \
		export GOOS=$${p%/*} GOARCH=$${p#*/} CGO_ENABLED=0; \
		$(GO) list -export ./... >/dev/null && $(GO) build -o bin/cross/ ./cmd/equivcnp ./bench || exit 1; \
	done

# Compiling everything for one platform takes two minutes, checking its types ten seconds. So the types are checked, tests included, where other
# files are built than here: for arm64, for systems that are not Linux or not Unix, for machines of 32 bits and without assembly; and those of
# the Beam pipeline, which nothing else here holds to the rest. For arm64 vet compares assembly with its declarations, and the tests of the step
# arm64 link it.
platforms: ## look for errors on every kind of platform
	cd asm && $(GO) run ./typecheck -dir .. darwin/arm64 freebsd/amd64 windows/amd64 linux/386 js/wasm
	cd asm && $(GO) run ./typecheck -dir ../beam linux/amd64
	export GOOS=linux GOARCH=arm64 CGO_ENABLED=0; $(GO) vet $$($(GO) list -f '{{if .SFiles}}{{.ImportPath}}{{end}}' ./...)

# What computes, or lays memory out. Long tests of plain Go are the same elsewhere; so is the twin of Intel's tiles; and only
# Intel's kernels copy rows that are crowded or far. One pattern, as RACESKIP is. ARM64SKIP='^$$' runs all.
ARM64SKIP := ^Test(AbsurdSizes|Arrange|ArrangeGrid|BallMasksAndBlocks|BetweenNodes|BoundBoxHoldsTheBall|BuildThreads|Capped|Classes|ConvolutionGradients|Crowded|Cut|EmbeddingTransforms|FinderAgainstBruteForce|FlatAgainstGroups|GemmCrowdedRows|GemmFarRows|GoldenGradientsF64|GoldenImageNeighbourhoods|GoldenLayersF64|GonumLAPACK|GradientOfNoImages|GridSingleQueries|JacobianDifferences|Jacobians|KNearestMasksAndBlocks|Lattice|LieConvTransforms|LineConv|MergeTolerance|NodesFineEnough|Nothing|PairsRemembered|PairsTransforms|PlannedBetweenNodes|PyramidGradients|PyramidThreads|RadiusForFillBySampling|RadiusForFillIsMet|RadiusForMean|RotationsDoNotShow|RoundTrips|SeedsDoNotShow|ShortVectors|Sim2Translation|Singular3x3|Slabs|SphereLattice|Transforms|TranslationErrorBoundsPoses|Transpose|TreeFindsWhatAScanFinds|TrialReference)$$
arm64: ## the numeric packages on an emulated arm64 machine (Debian: qemu-user-static)
	GOARCH=arm64 CGO_ENABLED=0 $(GO) test -short -timeout 30m -skip '$(ARM64SKIP)' -exec qemu-aarch64-static \
		$(addprefix ./internal/,bf16 bicubic cpu depthwise frozen hugepage limits merge parallel radix reuse safetensors schedule search spectral) \
		./simd/... ./linalg/... ./group ./neighbor/... ./layers/... ./cnp/weights

# Bochs and a Linux kernel are yours to bring; asm/emulate says which. Half an hour.
BOCHS  ?= bochs
KERNEL ?= /boot/vmlinuz
avx512: ## the kernels on an emulated processor with AVX-512 (BOCHS=, KERNEL=)
	cd asm && CGO_ENABLED=0 $(GO) build -o ../bin/emulate ./emulate
	CGO_ENABLED=0 $(GO) test -short -timeout 2h -exec '$(CURDIR)/bin/emulate -bochs $(BOCHS) -kernel $(KERNEL) -limit 2h' ./simd ./internal/depthwise ./internal/bf16 ./linalg/batch ./internal/search ./internal/spectral ./layers/...

# A count of runs (5000x) as well as a time (10s). CI counts: a run stopped by the clock can end as "context deadline exceeded"
# without any finding (Go issue 75804).
# Each package's targets share one binary: linking it anew for every target takes longer than the fuzzing.
FUZZDIRS ?= $$(grep -rl --include='*_test.go' --exclude-dir=asm '^func Fuzz' . | xargs -n1 dirname | sort -u)
FUZZBIN   = $(CURDIR)/bin/fuzz/$${dir\#./}.test
FUZZCACHE = $$($(GO) env GOCACHE)/fuzz/equivcnp/$${dir\#./}
# Empty: without coverage, so with the packages that the tests have compiled; mutations then know nothing of what is new.
FUZZCOVER ?= -fuzz .
fuzz: ## every fuzz target for FUZZFOR each
	@for dir in $(FUZZDIRS); do \
		bin=$(FUZZBIN); \
		$(GO) test -c $(FUZZCOVER) -o $$bin $$dir || exit 1; \
		targets=$$($$bin -test.list '^Fuzz') || exit 1; \
		for f in $$targets; do \
			echo "fuzz $$dir $$f"; \
			(cd $$dir && $$bin -test.run '^$$' -test.fuzz "^$$f\$$" -test.fuzztime $(FUZZFOR) -test.fuzzminimizetime 1000x \
				-test.fuzzcachedir "$(FUZZCACHE)") || exit 1; \
		done; \
	done

# In the background of other work (which must leave it some time: an input that takes ten seconds counts as hung): one worker on one core, and what a target has found does not keep the others from their turn. Each
# target adds a line to FUZZLOG: when it ended, what it did, and its last counts.
FUZZLOG ?= bin/fuzz/log
fuzz-long: ## every fuzz target for FUZZFOR each, on one core; counts go to FUZZLOG (nice -n 19 make fuzz-long FUZZFOR=1h)
	@mkdir -p bin/fuzz; failed=0; \
	for dir in $(FUZZDIRS); do \
		bin=$(FUZZBIN); \
		$(GO) test -c -fuzz . -o $$bin $$dir || exit 1; \
		targets=$$($$bin -test.list '^Fuzz') || exit 1; \
		for f in $$targets; do \
			(cd $$dir && GOMAXPROCS=1 $$bin -test.run '^$$' -test.fuzz "^$$f\$$" -test.fuzztime $(FUZZFOR) -test.fuzzminimizetime 1000x \
				-test.parallel 1 -test.fuzzcachedir "$(FUZZCACHE)") >$$bin.out 2>&1 && ended=ok || { ended=FAIL; failed=1; }; \
			echo "$$(date -u +%FT%TZ) $$ended $$dir $$f: $$(grep '^fuzz: elapsed' $$bin.out | tail -n 1)" >>$(FUZZLOG); \
			test $$ended = ok || cat $$bin.out >>$(FUZZLOG); \
		done; \
	done; exit $$failed

bench: ## standard Go benchmarks, readable by benchstat
	$(GO) test -run '^$$' -bench . ./...

clean:
	rm -rf bin out
