# Ringback. `make help` lists the targets.

GO        ?= go
GOVULN    := $(GO) run golang.org/x/vuln/cmd/govulncheck@v1.8.0
GOFUMPT   := $(GO) run mvdan.cc/gofumpt@v0.12.0
PACKAGES  := ./...
# Whatever is built is built without its paths, so that nothing is compiled twice, and whatever is only
# tested or run is linked without debug data, in half the time.
export GOFLAGS := $(GOFLAGS) -trimpath -ldflags=-s
# Without cgo, the binary runs with any C library or none, and starts faster.
export CGO_ENABLED ?= 0
BENCHTIME ?= 2s

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: build ## start a server and run one job on it, so that you see something
	./bin/ringback serve --demo

# Whatever GOFLAGS has, Go records the commit: ringback version shows it.
.PHONY: build
build: ## build ./bin/ringback
	$(GO) build -buildvcs=auto -o bin/ringback ./cmd/ringback

.PHONY: test
test: deps ## run all tests, without the race detector; of expensive ones, some cases
	@scripts/test.sh

.PHONY: test-all
test-all: deps ## run all cases of all tests
	@TEST_SAMPLE= scripts/test.sh

# It costs four times as much, and whatever shares memory needs it: run it before a release, and
# after a change of such code.
.PHONY: race
race: export CGO_ENABLED = 1
race: deps ## run all tests with the race detector, and the end-to-end tests with race-built servers
	@RACE_SERVERS=1 LONG_TESTS=1 TEST_SAMPLE= GORACE="$(GORACE) atexit_sleep_ms=0" scripts/test.sh

.PHONY: test-deploy
test-deploy: deps ## build the image and run all of deploy/ with Podman and systemd; as root, it installs them
	@scripts/install-deploy-tools.sh
	@TEST_SAMPLE= $(GO) test -count 1 -timeout 30m ./test/deploy

.PHONY: deps
deps: ## install what the tests need: redis-server, the Claude CLI
	@scripts/install-test-deps.sh

.PHONY: release
release: ## build the archives, packages and checksums of a release from the last commit, into ./dist
	@scripts/release.sh

.PHONY: bench
bench: ## compare callbacks, results and jobs with the least that they could cost: a table of ratios
	$(GO) test -run '^$$' -bench Ratios -benchtime 1x ./test/bench

.PHONY: bench-all
bench-all: ## run every benchmark, and print the table of make bench at the end
	$(GO) test -run '^$$' -skip Ratios -bench . -benchtime $(BENCHTIME) -benchmem $(PACKAGES)
	@$(MAKE) --no-print-directory bench

.PHONY: screenshots
screenshots: deps ## take pictures of every page of the console, into ./screenshots, and those of the README
	@mkdir -p screenshots
	SCREENSHOTS=$(CURDIR)/screenshots $(GO) test -count 1 -run TestScreenshots ./test/console
	@mkdir -p docs/images
	@cp screenshots/overview-desktop-light.png docs/images/overview.png
	@cp screenshots/review-desktop-dark.png docs/images/review.png
	@cp screenshots/question-tool-phone-light.png docs/images/question.png

.PHONY: faults
faults: deps ## kill, pause, cut and delay everything, on each store: make faults FAULT_JOBS=500
	FAULT_JOBS=$(or $(FAULT_JOBS),2000) $(GO) test -count 1 -timeout 24h -parallel 5 -run TestFaults -v ./test/fault

.PHONY: fuzz
fuzz: ## fuzz every parser of outside bytes for a while
	@scripts/fuzz.sh

.PHONY: lint
lint: ## run the linters; they include go vet, and check the format (make fmt)
	scripts/golangci-lint.sh run --timeout 15m --allow-parallel-runners

.PHONY: fmt
fmt: ## format the code
	$(GOFUMPT) -w .

.PHONY: generate
generate: ## regenerate what docs/ has of the code, and the types of the client
	$(GO) generate $(PACKAGES)
	@scripts/install-npm-packages.sh
	@npm run --silent generate

.PHONY: size
size: ## count the lines of code, tests and documentation
	@scripts/size.sh

# It asks no git: files that are not committed yet are nobody's fault.
.PHONY: verify
verify: ## what is generated is up to date, and go.mod is tidy
	@before=$$(mktemp -d) && trap 'rm -rf "$$before"' EXIT && cp -R docs clients internal/web/contract "$$before" && \
		$(MAKE) --no-print-directory generate && diff -ru "$$before/docs" docs && diff -ru "$$before/contract" internal/web/contract && \
		diff -ru -x node_modules -x "*.tsbuildinfo" "$$before/clients" clients || \
		{ echo "what make generate writes was out of date: commit what it has written now"; exit 1; }
	$(GO) mod tidy -diff

.PHONY: vuln
vuln: ## look for known vulnerabilities in what is called (asks vuln.go.dev)
	$(GOVULN) $(PACKAGES)
