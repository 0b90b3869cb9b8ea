GO ?= go
BIN := bin/haproxy-discovery
E2E := shell/kubernetes/e2e
CONTROLPLANE := bin/controlplane

.DEFAULT_GOAL := help
.PHONY: help build demo test race e2e vet fmt bench clean

help: ## list the goals
	@awk 'BEGIN {FS = ":.*## "} /^[a-z0-9-]+:.*## / {printf "  %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build the command into bin/
	$(GO) build -o $(BIN) ./cmd/haproxy-discovery

demo: build ## watch discovery at work on an embedded fleet for 20 seconds
	$(BIN) demo -o text

test: ## run all tests
	$(GO) test ./...

race: ## run all tests under the race detector
	$(GO) test -race ./...

# The API server is not vetted: that takes longer than to build it.
e2e: build $(CONTROLPLANE) ## run the tests on a real API server; to build it first takes ten minutes
	cd $(E2E) && $(GO) vet . ./internal/...
	cd $(E2E) && $(GO) test -count=1 -timeout 8m -parallel 4 . ./internal/...

# An API server that does not tell its version is taken for a very old one by its clients.
$(CONTROLPLANE): $(wildcard $(E2E)/cmd/controlplane/*.go) $(E2E)/go.mod $(E2E)/go.sum
	cd $(E2E) && $(GO) build -o $(CURDIR)/$@ -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=$$(\
		$(GO) list -m -f '{{.Version}}' k8s.io/kubernetes)" ./cmd/controlplane

vet: ## vet the code
	$(GO) vet ./...

fmt: ## fail on files that are not formatted
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "not formatted: $$unformatted"; exit 1; }

bench: ## run the benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

clean: ## remove what was built
	rm -rf bin
