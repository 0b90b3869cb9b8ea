GO ?= go
BIN := bin/haproxy-discovery
T ?= 10m
SEED ?= 1

.DEFAULT_GOAL := help
.PHONY: help build demo test race soak vet fmt bench clean

help: ## list the goals
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build the command into bin/
	$(GO) build -o $(BIN) ./cmd/haproxy-discovery

demo: build ## watch discovery at work on an embedded fleet for 20 seconds
	$(BIN) demo -o text

test: ## run all tests
	$(GO) test ./...

race: ## run all tests under the race detector
	$(GO) test -race ./...

soak: ## play simulated worlds on all cores: make soak T=10m SEED=1 (a billion inputs add up over runs)
	GOGC=800 $(GO) test ./fuzz/world -run 'TestWorld$$' -count=1 -timeout=0 -v -world.time=$(T) -world.seed=$(SEED)

vet: ## vet the code
	$(GO) vet ./...

fmt: ## fail on files that are not formatted
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "not formatted: $$unformatted"; exit 1; }

bench: ## run the benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

clean: ## remove what was built
	rm -rf bin
