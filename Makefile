# Ringback. `make help` lists the targets.

GO        ?= go
GOLANGCI  := $(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GOVULN    := $(GO) run golang.org/x/vuln/cmd/govulncheck@v1.8.0
GOFUMPT   := $(GO) run mvdan.cc/gofumpt@v0.12.0
PACKAGES  := ./...
BENCHTIME ?= 2s
# What ringback version tells.
VERSION   ?= $(or $(shell git describe --tags --dirty 2>/dev/null),dev)
LDFLAGS    = -X main.version=$(VERSION) -X main.commit=$(shell git describe --always --dirty --exclude "*" --abbrev=12 2>/dev/null) -X main.date=$(shell date -u +%Y-%m-%dT%H:%M:%SZ)

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: build ## start a server and run one job on it, so that you see something
	./bin/ringback serve --demo

.PHONY: build
build: ## build ./bin/ringback
	$(GO) build -ldflags "$(LDFLAGS)" -o bin/ringback ./cmd/ringback

.PHONY: test
test: deps ## run all tests, with the race detector
	$(GO) test -race -timeout 15m $(PACKAGES)

.PHONY: deps
deps: ## install what the tests need: redis-server, the Claude CLI
	@scripts/install-test-deps.sh

.PHONY: bench
bench: ## measure the callback path, fan-out and job start
	$(GO) test -run '^$$' -bench . -benchtime $(BENCHTIME) -benchmem $(PACKAGES)

.PHONY: soak
soak: deps ## kill, pause, cut and delay everything for as long as asked: make soak FAULT_JOBS=5000
	FAULT_JOBS=$(or $(FAULT_JOBS),2000) $(GO) test -race -count 1 -timeout 24h -run TestFaults -v ./test

.PHONY: fuzz
fuzz: ## fuzz every parser of outside bytes for a while
	@scripts/fuzz.sh

.PHONY: lint
lint: ## vet, and the linters, which check the format, too (make fmt)
	$(GO) vet $(PACKAGES)
	$(GOLANGCI) run --timeout 15m --allow-parallel-runners

.PHONY: fmt
fmt: ## format the code
	$(GOFUMPT) -w .

.PHONY: generate
generate: ## regenerate the schemas of the built-in kinds
	$(GO) generate $(PACKAGES)

# It asks no git: files that are not committed yet are nobody's fault.
.PHONY: verify
verify: ## what is generated is up to date, and go.mod is tidy
	@before=$$(mktemp -d) && trap 'rm -rf "$$before"' EXIT && cp -R schemas docs "$$before" && $(MAKE) --no-print-directory generate && \
		diff -ru "$$before/schemas" schemas && diff -ru "$$before/docs" docs || \
		{ echo "schemas/ or docs/ was out of date: commit what make generate has written now"; exit 1; }
	$(GO) mod tidy -diff

.PHONY: vuln
vuln: ## look for known vulnerabilities in what is called (asks vuln.go.dev)
	$(GOVULN) $(PACKAGES)
