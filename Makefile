GO ?= go
BIN := bin/haproxy-discovery

.DEFAULT_GOAL := help
.PHONY: help build demo test e2e race vet fmt bench clean

help: ## list the goals
	@awk 'BEGIN {FS = ":.*## "} /^[a-z0-9-]+:.*## / {printf "  %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build the command into bin/
	$(GO) build -o $(BIN) ./cmd/haproxy-discovery

demo: build ## watch discovery at work on an embedded fleet for 20 seconds
	$(BIN) demo -o text

test: ## run all tests
	$(GO) test ./...

e2e: ## run the tests that need more than Go: a real browser (Chromium)
	cd shell/kubernetes/e2e && $(GO) test ./...

race: ## run all tests under the race detector
	$(GO) test -race ./...

vet: ## vet the code
	$(GO) vet ./...

fmt: ## fail on files that are not formatted
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "not formatted: $$unformatted"; exit 1; }

bench: ## run the benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

clean: ## remove what was built
	rm -rf bin
