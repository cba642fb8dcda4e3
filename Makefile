# linerate: everything a contributor types. `make` alone explains.
SHELL := /bin/bash
GO ?= go
# go run, and not go tool: that one builds without GOFLAGS, and compiles once more what everything else has of Kubernetes' and the standard libraries.
LINT := github.com/golangci/golangci-lint/v2/cmd/golangci-lint
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X github.com/linerate-dev/linerate/internal/cli.version=$(VERSION) -X main.version=$(VERSION)
# What measures real packets or brings up a cluster runs by itself, so that nothing else disturbs its clocks.
ALONE := /(internal/(softgen|forwarder|lab)|test/(realpackets|delivery|e2e|faults))(/|$$)
# What plays thousands of lives or runs in pure code: the race detector finds nothing where nothing is shared, and makes it ten times as slow.
PURE := /(hack/image/pack|internal/(compile|gate|history|lifecycle|manifests|measure|profile|queue|ramp|report|statistics|suite))$$
# What plays people, authors and a cluster at a real API server, one step after the other: what shares memory in what they drive has tests of its
# own, which are with the detector. So are those of the operator with its caches and workers (test/operator).
DRIVES := /test/(apiserver|documents|kubectl|manifests|tenants)$$
# Tests with real packets that ask for no figure, or for one that a busy machine gives as well, and mostly wait. The gate plays them beside its compilers.
PATIENT := ^(TestAKilledRampEndsWhenItSaid|TestDeletes|TestDoctor|TestQueue|TestSpec|TestStops|TestSuite|TestTenants|TestTheGatesOfTheExamples|TestWaiting)$$
UNLESS_PATIENT := $(if $(PATIENT_BESIDE),-skip '$(PATIENT)')
# The race detector is in C, and all else does without.
RACE := CGO_ENABLED=1 $(GO) test -race
# It plays again what failed while the machine took processors away, and nothing else.
WITNESSED := $(GO) run ./hack/witness -rows TestKnownAnswers,TestFaults --
REPORTS ?= linerate-reports

.DEFAULT_GOAL := help
.PHONY: help build run test test-code test-packets test-plain race test-api test-chart e2e e2e-cluster e2e-packets patient e2e-kueue demo demo-down image compiler packages kube kube-cluster lint generate verify check known-answers four-systems bench bench-operator fuzz clean

help: ## Explain the targets
	@if [ -t 1 ] && [ -z "$$NO_COLOR" ]; then on=1 off=0; fi; \
	awk -v on="$${on:+\033[1m}" -v off="$${off:+\033[0m}" 'BEGIN {FS = ":.*## "} /^[a-z0-9-]+:.*## / {printf "  %s%-15s%s %s\n", on, $$1, off, $$2}' $(MAKEFILE_LIST)

build: ## Build bin/linerate and bin/manager (static, no cgo)
	@CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/ ./cmd/linerate ./cmd/manager

run: build ## Show where this machine's Linux forwarder saturates, from real packets (about a minute)
	@bin/linerate run examples/linux-forwarder.yaml --save $(REPORTS)

test: ## Run every test that needs no cluster, those with real packets included (as root)
	$(MAKE) --no-print-directory test-code
	$(MAKE) --no-print-directory test-packets

# go vet is among the linters, and isn't run once more with each test. What two programs would compile at the same time, each for itself, comes first.
test-code: compiler kube
	$(GO) build ./...
	$(MAKE) --no-print-directory -j2 --output-sync=line test-chart test-plain

# How many tests with real packets run beside each other: those of test/delivery send a thousand packets/s and mostly wait. In test/realpackets half as many as there
# are processors: each has a generator and a device that want one of their own, and where they don't get it, answers become lower bounds.
test-packets: compiler kube
	$(WITNESSED) -race -vet=off -count=1 -p 1 -timeout 20m ./internal/softgen/... ./internal/forwarder/... ./internal/lab/...
	$(WITNESSED) -vet=off -count=1 -timeout 20m -parallel $$(( $$(nproc) + 1 )) ./test/delivery
	$(WITNESSED) $(UNLESS_PATIENT) -vet=off -count=1 -timeout 30m -parallel $$(( ($$(nproc) + 1) / 2 )) ./test/realpackets

test-plain: compiler kube
	$(GO) test -vet=off -count=1 -timeout 20m $$($(GO) list ./... | grep -E '$(PURE)|$(DRIVES)')
	$(RACE) -vet=off -count=1 -timeout 20m $$($(GO) list ./... | grep -Ev '$(ALONE)|$(PURE)|$(DRIVES)')

race: compiler kube ## Run all tests but those that measure with the race detector, also what the gate tests without (as root)
	$(RACE) -vet=off -count=1 -timeout 60m $$($(GO) list ./... | grep -Ev '$(ALONE)')
	$(RACE) -vet=off -count=1 -p 1 -timeout 20m ./internal/softgen/... ./internal/forwarder/... ./internal/lab/...

test-api: compiler kube ## Run the API and the operator against a real API server
	$(RACE) -count=1 ./test/apiserver ./test/manifests ./test/operator/...

test-chart: kube ## Test the chart, by Helm's own library, against a real API server
	cd test/chart && $(GO) test -vet=off -count=1 -timeout 15m ./...

# The tests build it themselves if they must, but then unheard, and beside tests that keep time.
kube:
	@$(GO) run ./hack/kube >/dev/null

# Debian's packages that the machine lacks; as root it installs them, else it says which.
compiler:
	@hack/ci-packages race

packages:
	@[ "$$(id -u)" -eq 0 ] || { echo "a node is made of namespaces, mounts and control groups: run as root (sudo make $(MAKECMDGOALS))" >&2; exit 1; }
	@hack/ci-packages cluster

kube-cluster:
	@$(GO) run ./hack/kube cluster >/dev/null

demo: ## Show the operator at work on a real two-node cluster on this machine (as root)
	$(GO) run ./hack/demo up

demo-down: ## Remove the demo's cluster
	$(GO) run ./hack/demo down

e2e: ## Run the end-to-end tests, with real packets in real pods on a real cluster (as root)
	$(MAKE) --no-print-directory e2e-cluster
	$(MAKE) --no-print-directory e2e-packets

e2e-cluster: packages kube-cluster
	$(GO) test -vet=off -count=1 -p 1 -timeout 20m -tags cluster ./hack/cluster ./test/fabric/incluster

# How many scenes go beside each other is up to the tests' wires: those that wait for some hold no processor.
e2e-packets: packages kube-cluster
	$(WITNESSED) $(UNLESS_PATIENT) -vet=off -count=1 -p 1 -parallel 20 -timeout 50m ./test/e2e/... ./test/faults/...

patient: packages kube-cluster
	$(WITNESSED) -vet=off -count=1 -p 2 -parallel 20 -timeout 50m -run '$(PATIENT)' ./test/realpackets ./test/e2e

# Not in the gate: Kueue takes as long to build as these tests take.
e2e-kueue: packages kube-cluster ## Run LoadTests in queues of a real Kueue, on a real cluster with real packets (as root)
	@$(GO) run ./hack/kube kueue >/dev/null
	$(GO) test -vet=off -count=1 -timeout 20m -tags kueue -run '^TestKueue$$' -v ./test/e2e

image: ## Pack the container image into linerate.tar, with nothing but Go
	@$(GO) run ./hack/image -o linerate.tar -version '$(VERSION)'

lint: ## Lint, with the architecture's import arrows
	$(GO) run -modfile=go.tools.mod $(LINT) run ./...
	cd test/chart && $(GO) run -modfile=../../go.tools.mod $(LINT) run -c ../../.golangci.yml ./...
	$(GO) run -modfile=go.actionlint.mod github.com/rhysd/actionlint/cmd/actionlint examples/ci/github-actions.yaml

generate: ## Regenerate deep copies, the CRD, docs/api.md, the manager's role and the chart's copies
	hack/generate

verify: generate ## Fail if generated files are not what the sources say
	@git diff --exit-code -- api charts config docs || { echo "generated files are stale: run 'make generate' and commit the result" >&2; exit 1; }

check: verify lint test e2e ## What the gate runs

known-answers: ## Measure devices whose limit is known: the whole table of docs/known-answers.md (as root, about 15 minutes)
	$(GO) test -count=1 -timeout 120m ./test/realpackets -run TestKnownAnswers -v -all -table $(CURDIR)/docs/known-answers.md

# What fails is not published; the other way is measured nevertheless.
four-systems: packages kube-cluster ## Make one table of four systems both ways, into docs/four-systems.md: by linerate run, and by the operator (as root, about 15 minutes)
	@failed=0; for way in ./test/realpackets ./test/e2e; do \
	$(GO) test -vet=off -count=1 -timeout 30m $$way -run '^TestFourSystems$$' -v -all -table $(CURDIR)/docs/four-systems.md || failed=1; \
	done; exit $$failed

bench: ## Compare the software engine with trafgen and hping3 on the same veths and forwarder (as root, about 3 minutes)
	$(GO) run ./hack/bench

bench-operator: kube ## Take 1 000 LoadTests through a real API server: throughput, requests, memory (about 12 minutes)
	$(GO) run ./hack/bench-operator

fuzz: ## Fuzz what parses bytes, 20 s each
	hack/fuzz 20s

clean: ## Remove what was built
	rm -rf bin
