# Every target works on a fresh machine with Go and a C compiler.

GO       ?= go
BUILD    ?= build
ABI      := $(BUILD)/abi
STRESS   := $(BUILD)/stress
SOAK     ?= 1000
TORTURE  ?= 100
GOLANGCI ?= golangci-lint

.DEFAULT_GOAL := help
.PHONY: help build cross test race race-quick race-removed lint bench abi demo soak torture golden clean

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build the stress command into build/
	CGO_ENABLED=0 $(GO) build -trimpath -o $(STRESS) ./cmd/stress

cross: ## build without cgo for every supported platform
	CGO_ENABLED=0 GOOS=linux GOARCH=amd64 $(GO) build -o $(BUILD)/stress-linux-amd64 ./cmd/stress
	CGO_ENABLED=0 GOOS=linux GOARCH=arm64 $(GO) build -o $(BUILD)/stress-linux-arm64 ./cmd/stress

test: ## run all tests, without cgo
	CGO_ENABLED=0 $(GO) test -shuffle=on ./...

race: ## run all tests under the race detector, some 15 minutes on 2 cores
	CGO_ENABLED=1 $(GO) test -race -shuffle=on -timeout 30m ./...

# Without the packages whose tests are mostly child processes and C builds:
# race-removed runs the children, and make race runs everything.
race-quick: ## run the tests of what threads share under the race detector
	CGO_ENABLED=1 $(GO) test -race -shuffle=on $$($(GO) list ./... | grep -Ev '/(scenarios|cmd/stress|childproc|rocm/hip|harness)$$')

race-removed: ## run the scenarios under the race detector with each protection removed
	CGO_ENABLED=1 $(GO) build -race -o $(BUILD)/stress-race ./cmd/stress
	./scripts/race-removed $(BUILD)/stress-race

lint: ## gofmt, go vet, golangci-lint
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo 'run gofmt -w on these files'; exit 1; }
	$(GO) vet ./...
	$(GOLANGCI) run ./...

bench: ## run the benchmarks; results are ratios
	$(GO) test -run '^$$' -bench . -benchtime 1s ./...

abi: ## build the HIP test ABI libraries, for the CPU and over CUDA, into build/abi
	$(MAKE) -C rocm/hip/abi OUT=$(abspath $(ABI))

demo: build ## lock removed against lock present: 20 runs of 10 children each, simulated
	$(STRESS) compare first-gemm --device sim

soak: build ## SOAK children of every scenario, protected, simulated: none may fail
	for s in $$($(STRESS) list scenarios --names); do \
	  $(STRESS) run $$s --device sim --runs $$(( $(SOAK) / 10 )) --children 10 || exit 1; done

torture: ## kill the driver of a campaign TORTURE times at random moments, and resume it
	STRESS_TORTURE=$(TORTURE) $(GO) test -count=1 -v ./cmd/stress -ginkgo.focus 'driver is killed at random'

golden: ## rewrite golden files from what the code prints now
	$(GO) test ./reports ./cmd/stress -update

clean: ## remove what was built
	rm -rf $(BUILD)
