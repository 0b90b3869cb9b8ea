GO ?= go
BIN := bin/haproxy-discovery

.DEFAULT_GOAL := help
.PHONY: help build demo test race fuzz mutants vet fmt bench clean

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

# All targets that there are, found by their name. A fuzzer that is stopped in the middle of an input
# may call that a failure; a real one comes with a file.
T ?= 60s
fuzz: ## fuzz each target for T (60s), one after the other
	@$(GO) test -list '^Fuzz' ./... | \
		awk '/^Fuzz/ {t[n++] = $$1} /^ok/ {while (n) print $$2, t[--n]}' | \
	while read -r package target; do \
		echo "== $$target of $$package"; \
		out=$$($(GO) test "$$package" -run '^$$' -fuzz "^$$target$$" -fuzztime $(T) \
			-fuzzminimizetime 10x 2>&1) || case $$out in \
			*"Failing input written"* | *FAIL*build* | *panic*) echo "$$out"; exit 1;; esac; \
		echo "$$out" | grep '^fuzz: elapsed' | tail -1; \
	done

mutants: ## change core in many small ways, one at a time, and see which the tests miss
	$(GO) run ./fuzz/mutants $(MUTANTS)

vet: ## vet the code
	$(GO) vet ./...

fmt: ## fail on files that are not formatted
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "not formatted: $$unformatted"; exit 1; }

bench: ## run the benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

clean: ## remove what was built
	rm -rf bin
