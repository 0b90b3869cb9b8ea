GO ?= go
BIN := bin/haproxy-discovery
E2E := shell/kubernetes/e2e
CONTROLPLANE := bin/controlplane
BROWSER := shell/status/browser
ALERTS := cmd/haproxy-discovery/internal/manifests/alerts

.DEFAULT_GOAL := help
.PHONY: help build demo test race soak explore fuzz mutants tools browser alerts e2e vet fmt tidy bench clean

help: ## list the goals
	@awk 'BEGIN {FS = ":.*## "} /^[a-z0-9-]+:.*## / {printf "  %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build the command into bin/
	$(GO) build -o $(BIN) ./cmd/haproxy-discovery

demo: build ## watch discovery at work on an embedded fleet for 20 seconds
	$(BIN) demo -o text

test: ## run all tests
	$(GO) test ./...

race: ## run all tests under the race detector
	$(GO) test -race -short ./...

soak: T ?= 10m
soak: SEED ?= 1
soak: ## play simulated worlds on all cores for T (10m), from SEED (1) on
	GOGC=800 $(GO) test ./fuzz/world -run 'TestWorld$$' -count=1 -timeout=0 -v -world.time=$(T) -world.seed=$(SEED)

explore: ## explore all small worlds exhaustively (hours on two processors)
	$(GO) test ./fuzz/explore -run '^TestWorlds$$' -explore.all -v -count=1 -timeout 3h

# All targets that there are, found by their name. A fuzzer whose time is up in the middle of an input
# may say that its deadline was exceeded; that alone is no failure.
fuzz: T ?= 60s
fuzz: ## fuzz each target for T (60s), one after the other
	@listed=$$($(GO) test -list '^Fuzz' ./...) || { echo "$$listed"; exit 1; }; \
	targets=$$(echo "$$listed" | \
		awk '/^Fuzz/ {t[n++] = $$1} /^ok/ {while (n) print $$2, t[--n]}'); \
	test -n "$$targets" || { echo "no target found"; exit 1; }; \
	echo "$$targets" | while read -r package target; do \
		echo "== $$target of $$package"; \
		out=$$($(GO) test "$$package" -run '^$$' -fuzz "^$$target$$" -fuzztime $(T) \
			-fuzzminimizetime 10x 2>&1) || case $$out in \
			*"Failing input written"*) echo "$$out"; exit 1;; \
			*"context deadline exceeded"*) ;; \
			*) echo "$$out"; exit 1;; esac; \
		echo "$$out" | grep '^fuzz: elapsed' | tail -1; \
	done

mutants: ## change core in many small ways, one at a time, and see which the tests miss
	$(GO) run ./fuzz/mutants $(MUTANTS)

# On a machine without Debian's packages, bring these along in another way.
tools: ## install what the tests with real parts need: HAProxy, Chromium, logrotate, a C compiler (Debian)
	@command -v haproxy >/dev/null && command -v chromium >/dev/null && command -v cc >/dev/null && \
		test -x /usr/sbin/logrotate || { \
		as_root=$$(test "$$(id -u)" = 0 || echo sudo); \
		$$as_root apt-get -q update && $$as_root env DEBIAN_FRONTEND=noninteractive apt-get -q install -y \
			--no-install-recommends haproxy chromium logrotate gcc libc6-dev; }

browser: ## run the tests of the status page in Chromium
	cd $(BROWSER) && $(GO) vet . && $(GO) test -count=1 -timeout 5m .

alerts: ## run the tests of the alert rules with Prometheus' own engine
	cd $(ALERTS) && $(GO) vet . && $(GO) test -count=1 -timeout 5m .

# The API server is not vetted: that takes longer than to build it.
e2e: build $(CONTROLPLANE) ## run the tests on a real API server; to build it first takes ten minutes
	cd $(E2E) && $(GO) vet . ./internal/...
	cd $(E2E) && $(GO) test -count=1 -timeout 8m -parallel 4 . ./internal/...
	cd $(E2E)/embedding && $(GO) vet . && $(GO) test -count=1 -timeout 3m .
	cd $(E2E)/manager && $(GO) vet . && $(GO) test -count=1 -timeout 3m .

# An API server that does not tell its version is taken for a very old one by its clients.
$(CONTROLPLANE): $(wildcard $(E2E)/cmd/controlplane/*.go) $(E2E)/go.mod $(E2E)/go.sum
	cd $(E2E) && $(GO) build -o $(CURDIR)/$@ -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=$$(\
		$(GO) list -m -f '{{.Version}}' k8s.io/kubernetes)" ./cmd/controlplane

vet: ## vet the code
	$(GO) vet ./...

fmt: ## fail on files that are not formatted
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "not formatted: $$unformatted"; exit 1; }

tidy: ## fail on modules that are not tidy, or not what their checksums say
	@for module in . $(E2E) $(E2E)/embedding $(E2E)/manager $(BROWSER) $(ALERTS); do (cd $$module && $(GO) mod verify && \
		test -z "$$($(GO) mod tidy -diff)") || { echo "$$module/go.mod is not tidy"; exit 1; }; done

bench: ## run the benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

clean: ## remove what was built
	rm -rf bin
