# linerate: everything a contributor types. `make` alone explains.
SHELL := /bin/bash
GO ?= go
TOOL := $(GO) tool -modfile=go.tools.mod
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X github.com/linerate-dev/linerate/internal/cli.version=$(VERSION)
REPORTS ?= linerate-reports

.DEFAULT_GOAL := help
.PHONY: help build run test test-api test-chart e2e demo demo-down image kube kube-cluster lint generate verify check known-answers bench bench-operator fuzz clean

help: ## Explain the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  \033[1m%-15s\033[0m %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## Build bin/linerate (static, no cgo)
	@CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/linerate ./cmd/linerate

run: build ## Show where this machine's Linux forwarder saturates, from real packets (about a minute)
	@bin/linerate run examples/linux-forwarder.yaml --save $(REPORTS)

test: kube ## Run every test, those with real packets included (as root)
	$(GO) test -race -count=1 $$($(GO) list ./... | grep -v /test/realpackets)
	$(GO) test -count=1 -timeout 20m ./test/realpackets

test-api: kube ## Run the API against a real API server
	$(GO) test -race -count=1 ./test/apiserver

# The tests build it themselves if they must, but then unheard, and beside tests that keep time.
kube:
	@$(GO) run ./hack/kube >/dev/null

kube-cluster:
	@$(GO) run ./hack/kube cluster >/dev/null

demo: ## Show the operator at work on a real two-node cluster on this machine (as root)
	@$(GO) run ./hack/demo up

demo-down: ## Remove the demo's cluster
	@$(GO) run ./hack/demo down

e2e: kube-cluster ## Run the end-to-end tests, with real packets in real pods on a real cluster (as root)
	$(GO) test -count=1 -timeout 50m ./test/e2e/...

image: ## Pack the container image into linerate.tar, with nothing but Go
	@$(GO) run ./hack/image -o linerate.tar -version '$(VERSION)'

lint: ## Lint, with the architecture's import arrows
	$(TOOL) golangci-lint run ./...

generate: ## Regenerate deep copies, the CRD and docs/api.md
	hack/generate

verify: generate ## Fail if generated files are not what the sources say
	@git diff --exit-code -- api config docs || { echo "generated files are stale: run 'make generate' and commit the result" >&2; exit 1; }

check: verify lint test ## What the gate runs

known-answers: ## Measure devices whose limit is known: the whole table of docs/known-answers.md (as root, about 15 minutes)
	$(GO) test -count=1 -timeout 120m ./test/realpackets -run TestKnownAnswers -v -all -table $(CURDIR)/docs/known-answers.md

bench: ## Compare the software engine with trafgen and hping3 on the same veths and forwarder (as root, about 3 minutes)
	$(GO) run ./hack/bench

bench-operator: kube ## Take 1 000 LoadTests through a real API server: throughput, requests, memory (about 10 minutes)
	$(GO) run ./hack/bench-operator

fuzz: ## Fuzz what parses bytes, 20 s each
	hack/fuzz 20s

clean: ## Remove what was built
	rm -rf bin
