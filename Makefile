# linerate: everything a contributor types. `make` alone explains.
SHELL := /bin/bash
GO ?= go
# go run, and not go tool: that one builds without GOFLAGS, and compiles once more what everything else has of Kubernetes' and the standard libraries.
LINT := github.com/golangci/golangci-lint/v2/cmd/golangci-lint
# Nothing is built from docs, and what is built writes pages there: those make no version dirty.
VERSION ?= $(shell git describe --tags --always 2>/dev/null || echo dev)$(shell git diff --quiet HEAD -- . ':!docs' 2>/dev/null; [ $$? -ne 1 ] || echo -dirty)
LDFLAGS := -s -w -X github.com/linerate-dev/linerate/internal/cli.version=$(VERSION) -X main.version=$(VERSION)
# What makes interfaces, or measures real packets, or brings up a cluster: they have targets of their own.
PACKETS := /(internal/(engine/softgen|device/(forwarder|lab)|host/netif|run/sessions)|test/(packets/(realpackets|delivery|burstiness|trains|virtualfunctions)|cluster/e2e|rigs/impaired))(/|$$)
# Packages whose tests compute for long on one goroutine, which the race detector makes up to ten times as slow: they go without. All others have it.
PLAIN := $(addprefix ./internal/,cluster/lifecycle cluster/manifests cluster/queue cluster/suite compile document/bundle document/delivery document/report procedure/eachdirection procedure/ramp procedure/search \
	procedure/soak render result/comparison result/history result/verify) $(addprefix ./test/,api/apiserver api/kubectl api/manifests api/tenants pages/documents) ./hack/...
# Of these packages the race detector has what testing.Short leaves, and all tests go without, too.
BOTH := ./controllers/loadtest ./controllers/loadtestsuite ./controllers/turns ./internal/cli ./internal/compile/admission ./internal/run/frames
# The packages that the race detector has.
RACED = $$(comm -23 <($(GO) list ./... | grep -Ev '$(PACKETS)|/test/api/operator$$' | sort) <($(GO) list $(PLAIN) | sort))
# The race detector is in C, and all else does without.
RACE := CGO_ENABLED=1 $(GO) test -race
# Tests of the full tier: what only a calm machine shows, and what is too dear for each change.
FULL := $(GO) test -tags full -vet=off -count=1
REPORTS ?= linerate-reports
# How much of what is repeated the full tier plays: so much that a machine plays all in a night. More is for who changes what a part measures.
AGAIN ?= 5
GATES ?= 5
NEIGHBOURS ?= 10
SOAK ?= 20
FUZZ ?= 10s
SEARCHES ?= 2000
FORM ?= short

.DEFAULT_GOAL := help
.PHONY: $(shell awk -F: '/^[a-z0-9-]+:/ {print $$1}' $(MAKEFILE_LIST))

help: ## Explain the targets
	@if [ -t 1 ] && [ -z "$$NO_COLOR" ]; then on=1 off=0; fi; \
	awk -v on="$${on:+\033[1m}" -v off="$${off:+\033[0m}" 'BEGIN {FS = ":.*## "} /^[a-z0-9-]+:.*## / {printf "  %s%-14s%s %s\n", on, $$1, off, $$2}' $(MAKEFILE_LIST)

build: ## Build bin/linerate and bin/manager (static, no cgo; 1 minute)
	@CGO_ENABLED=0 $(GO) build -trimpath -tags grpcnotrace -ldflags '$(LDFLAGS)' -o bin/ ./cmd/linerate ./cmd/manager

run: build ## Show where this machine's Linux forwarder saturates, from real packets (within a minute)
	@bin/linerate run examples/linux-forwarder.yaml --save $(REPORTS)

test: ## Run the gate's tests that need no cluster, with one scene of real packets (as root; 15 minutes, the first time 25)
	$(MAKE) --no-print-directory test-code
	$(MAKE) --no-print-directory test-packets

# go vet is among the linters, and isn't run once more with each test. What several of these would compile at the same time, each for itself, is compiled first:
# by go list, which links nothing. Half of them wait for an API server, so more are under way than there are processors. What tests and API servers make is soon garbage: it is collected less often.
test-code: export GOGC := 400
test-code: export GOMEMLIMIT := 2GiB
test-code: compiler kube ## Run the gate's tests without packets: code, virtual time, the API server, the chart (10 minutes)
	$(GO) list -export -f '' ./... >/dev/null
	CGO_ENABLED=1 $(GO) list -race -export -test -f '' $(RACED) ./test/api/operator >/dev/null
	KUBEBUILDER_ASSETS=$$($(GO) run ./hack/kube) $(MAKE) --no-print-directory -j6 --output-sync=target test-operator-a test-operator-b test-operator-c test-race test-plain test-chart

# The engine's threads that send (real-time ones, or at nice -20) would leave no processor to sessions, whose packets an ordinary program sends: so these are before the engine. The last are one after another.
# Of tests that are parallel most of the time is waiting, so there may be more than processors.
test-packets: compiler kube ## Run the gate's tests with interfaces and real packets, and between virtual functions of an emulated machine (as root; 6 minutes)
	$(RACE) -vet=off -count=1 -timeout 10m -parallel 4 ./internal/run/sessions/...
	$(RACE) -vet=off -count=1 -timeout 10m -parallel 4 ./internal/engine/softgen/... ./internal/device/lab/... ./internal/host/netif/... ./internal/device/forwarder/...
	$(GO) test -vet=off -count=1 -p 1 -timeout 10m -parallel 6 ./test/packets/burstiness ./test/packets/trains ./test/packets/delivery ./test/rigs/impaired ./test/packets/realpackets ./test/packets/virtualfunctions

test-race: compiler kube
	$(RACE) -short -vet=off -count=1 -timeout 20m $(RACED)
	cd test/rigs/fabric/plugins && $(RACE) -vet=off -count=1 -timeout 20m ./...

test-plain: kube
	$(GO) test -vet=off -count=1 -timeout 20m -parallel 6 $(PLAIN) $(BOTH)

# The operator's tests are one after the other, each waiting for its API server: three parts are beside each other, each with a server of its own. They are one program.
test-operator-a: operator-tests
	cd test/api/operator && ../../../bin/operator.test -test.timeout 20m -test.run '^TestA[STWn]'

test-operator-b: operator-tests
	cd test/api/operator && ../../../bin/operator.test -test.timeout 20m -test.run '^TestA[^STWn]'

test-operator-c: operator-tests
	cd test/api/operator && ../../../bin/operator.test -test.timeout 20m -test.run '^Test[^A]'

operator-tests: compiler kube
	$(RACE) -vet=off -c -o bin/operator.test ./test/api/operator

test-api: compiler kube ## Run the API and the operator against a real API server (2 minutes)
	$(RACE) -count=1 ./test/api/apiserver ./test/api/manifests ./test/api/operator/...

test-chart: kube ## Test the chart, by Helm's own library, against a real API server (1 minute)
	cd test/api/chart && $(GO) test -vet=off -count=1 -timeout 15m ./...

# The tests build it themselves if they must, but then unheard, and beside tests that keep time.
kube:
	@$(GO) run ./hack/kube >/dev/null

# Debian's packages that the machine lacks; as root it installs them, else it says which.
compiler:
	@hack/ci-packages race

# The programs of devices made of Linux; a device whose program lacks fails the test that wants it.
devices:
	@hack/ci-packages devices

# Other programs that send packets.
senders:
	@hack/ci-packages senders

packages:
	@[ "$$(id -u)" -eq 0 ] || { echo "a node is made of namespaces, mounts and control groups: run as root (sudo make $(MAKECMDGOALS))" >&2; exit 1; }
	@hack/ci-packages cluster

kube-cluster:
	@$(GO) run ./hack/kube cluster >/dev/null

demo: ## Show the operator at work on a real two-node cluster on this machine (as root; 2 minutes, the first time 20)
	$(GO) run ./hack/demo up

demo-down: ## Remove the demo's cluster (some seconds)
	$(GO) run ./hack/demo down

e2e: packages kube-cluster ## Run the gate's scene in a real cluster: both kinds of engine pod, a queue, a killed runner (as root; 3 minutes)
	$(GO) test -vet=off -count=1 -timeout 20m ./test/cluster/e2e ./test/cluster/e2e/box ./test/cluster/e2e/rig ./test/cluster/e2e/trex

image: ## Pack the container image into linerate.tar, with nothing but Go (1 minute)
	@$(GO) run ./hack/image -o linerate.tar -version '$(VERSION)'

release-check: ## Say what isn't ready for the release VERSION
	@$(GO) run ./hack/release check -version '$(VERSION)'

release: ## Make image, chart, command line, krew's manifest and bills of materials of the release VERSION, for all architectures, in dist/ (3 minutes)
	$(GO) run ./hack/release build -version '$(VERSION)' -o dist

release-push: ## Push image and chart of dist/ to REGISTRY
	$(GO) run ./hack/release push -from dist -registry '$(REGISTRY)'

rehearse: ## Full tier: run the release workflow's own steps, with stand-ins for cosign and gh, and a registry of the test's (5 minutes)
	$(FULL) -timeout 40m -run '^TestTheWorkflowsStepsMakeARelease$$' -v ./hack/release

lint: ## Lint, with the architecture's import arrows (1 minute, the first time 7)
	$(GO) run -modfile=go.tools.mod $(LINT) run --allow-parallel-runners ./...
	cd test/api/chart && $(GO) run -modfile=../../../go.tools.mod $(LINT) run --allow-parallel-runners -c ../../../.golangci.yml ./...
	cd test/rigs/fabric/plugins && $(GO) run -modfile=../../../../go.tools.mod $(LINT) run --allow-parallel-runners -c ../../../../.golangci.yml ./...
	$(GO) run -modfile=go.actionlint.mod github.com/rhysd/actionlint/cmd/actionlint examples/ci/github-actions.yaml .github/workflows/*.yml

generate: ## Regenerate deep copies, the CRD, docs/api.md, the documents' schemas, the manager's role, the chart's copies and, where clang 14 is, the kernel's programs (5 seconds, the first time 1 minute)
	hack/generate

verify: generate ## Fail if generated files are not what the sources say, or if module files require different versions of one module (5 seconds, the first time 1 minute)
	@$(GO) run ./hack/versions
	@git diff --exit-code -- api charts config docs ':(glob)internal/**/*_bpfel.*' || { echo "generated files are stale: run 'make generate' and commit the result" >&2; exit 1; }

check: ## Run the gate: what must hold on any machine before a change lands (as root; 9 to 13 minutes, the first time 18)
	.ci/run

check-all: ## Run the full tier, part by part, and publish its tables in docs/measured/: for a calm machine (as root; about 6½ hours)
	hack/check-all

# The parts of the full tier. Each is played once: a row that isn't as it should be stays in its table, with how calm the machine was.

known-answers: ## Full tier: measure devices of which all is known, impaired ones too, into docs/measured/known-answers.md; AGAIN=n repetitions (as root; 90 minutes)
	$(FULL) -timeout 120m ./test/packets/realpackets -run '^TestKnownAnswers' -v -again $(AGAIN) -table $(CURDIR)/docs/measured/known-answers.md

packets: compiler kube ## Full tier: weak generators, killed ramps, runners in a cluster, what the impaired device carries, sessions' figures against known ones, with real packets (as root; 50 minutes)
	$(FULL) -p 1 -timeout 60m -skip '^(TestKnownAnswers.*|TestModes.*|TestFourSystems|TestGate|TestABusyLoopIsNoWeakDevice)$$' ./test/packets/burstiness ./test/packets/trains ./test/packets/delivery ./test/rigs/impaired ./test/packets/realpackets ./internal/run/iperf3
	$(FULL) -timeout 20m -run '^(TestLossOf|TestManyStreams|TestRoundTripOf|TestGoodputOf|TestAWeakReceiverOf)' -v ./internal/run/sessions

modes: devices ## Full tier: measure each real device made of Linux, into docs/measured/modes.md (as root; 36 minutes)
	$(FULL) -timeout 90m ./test/packets/realpackets -run '^TestModes' -v -table $(CURDIR)/docs/measured/modes.md

neighbours: ## Full tier: measure a router beside a busy loop, NEIGHBOURS=n times, and sessions through a Reference (as root; 12 minutes)
	$(FULL) -timeout 60m ./test/packets/realpackets -run '^TestABusyLoopIsNoWeakDevice$$' -v -neighbours $(NEIGHBOURS)
	$(FULL) -timeout 20m ./internal/run/sessions -run '^TestABusyLoopIsNoWeakDeviceOfSessions$$' -v -neighbours 5

blind-gates: ## Full tier: judge releases blind, into docs/measured/gate.md; GATES=n of each kind (as root; 18 minutes)
	$(FULL) -timeout 90m ./test/packets/realpackets -run '^TestGate$$' -v -gate $(GATES) -table $(CURDIR)/docs/measured/gate.md

cards: ## Full tier: break what only a network card with virtual functions shows, on emulated machines: ports, VLANs, spoof checks, drivers (as root; 10 to 15 minutes)
	@hack/ci-packages machine
	$(FULL) -timeout 30m ./test/packets/realcards -v

clusters: packages kube-cluster ## Full tier: the tests of the cluster itself and of its network cards (as root; 3 minutes)
	$(FULL) -p 1 -timeout 20m ./hack/cluster ./test/rigs/fabric/incluster

sriov: packages kube-cluster ## Full tier: type docs/sriov.md on two emulated machines with virtual functions; SRIOVDP and SRIOV_CNI name the real plugins' programs, TREX the archive of an image of TRex (as root; 35 minutes)
	@hack/ci-packages machine
	SRIOVDP='$(SRIOVDP)' SRIOV_CNI='$(SRIOV_CNI)' TREX='$(TREX)' $(FULL) -timeout 60m -v ./test/cluster/sriov

scenes: packages devices kube-cluster ## Full tier: everything that is played in a cluster: modes, floods, grids, sessions, lives, queues, suites, gates, tenants, a replaced operator (as root; 42 minutes)
	$(FULL) -timeout 60m -parallel 20 -skip '^TestFourSystems$$' ./test/cluster/e2e

faults: packages kube-cluster ## Full tier: break each part of a cluster in each phase of a test, into docs/measured/reliability.md (as root; 30 minutes)
	$(FULL) -timeout 90m ./test/cluster/faults -run '^TestFaults$$' -v -table docs/measured/reliability.md

soak: packages kube-cluster ## Full tier: the same test SOAK=n times in a row, into docs/measured/reliability.md (as root; 14 minutes)
	$(FULL) -timeout 60m ./test/cluster/faults -run '^TestSoak$$' -v -soak $(SOAK) -table docs/measured/reliability.md

lives: kube ## Full tier: the life of every sample, an upgrade of the chart in the middle of a run, a hostile tenant, at a real API server; the image by its Dockerfile (6 minutes)
	$(FULL) -timeout 30m ./test/api/operator -run '^(TestEveryLife|TestAHostileTenantTakesNoMemory)$$'
	cd test/api/chart && $(FULL) -timeout 30m -run '^(TestAReleaseChangesInTheMiddleOfARun|TestTheDockerfilesCommandsBuildThePackedPrograms)$$' ./...

properties: ## Full tier: procedures, lives, suites and queues against many more histories, and the whole tables of docs/measured/statistics.md (8 minutes)
	$(FULL) -timeout 30m $$($(GO) list ./internal/... | grep -Ev '$(PACKETS)|/run/iperf3$$')

# The other way is measured also where the first failed.
four-systems: packages kube-cluster ## Full tier: one table of four systems, by linerate run and by the operator, into docs/measured/four-systems.md (as root; 15 minutes)
	@failed=0; for way in ./test/packets/realpackets ./test/cluster/e2e; do \
	$(FULL) -timeout 30m $$way -run '^TestFourSystems$$' -v -table $(CURDIR)/docs/measured/four-systems.md || failed=1; \
	done; exit $$failed

# A piece of them, or by the operator: PLAY='-suite flood -for 25m', PLAY=-operator; docs/development.md says how.
published-loadtests: build ## Full tier: play the suites of the published loadtests in a short form (as root; 15 minutes); FORM=published measures them, into docs/measured/published (4 hours, also in pieces)
	$(GO) run ./hack/published -form $(FORM) -save $(REPORTS) $(if $(filter published,$(FORM)),-pages docs/measured/published,$(if $(PLAY),,-anew)) $(PLAY)

e2e-kueue: packages kube-cluster ## Full tier: LoadTests in queues of a real Kueue, which it builds (as root; 5 minutes, the first time 7)
	@$(GO) run ./hack/kube kueue >/dev/null
	$(GO) test -vet=off -count=1 -timeout 20m -tags full,kueue -run '^TestKueue$$' -v ./test/cluster/e2e

machine: ## Full tier: measure a limit between virtual functions of an emulated machine by a ramp, too, and test the machine itself (4 minutes)
	@hack/ci-packages machine
	$(FULL) -p 1 -timeout 15m -v ./hack/machine ./test/packets/virtualfunctions

race: compiler kube ## Full tier: the race detector for what the gate tests without it (as root; 15 minutes)
	KUBEBUILDER_ASSETS=$$($(GO) run ./hack/kube) $(RACE) -vet=off -count=1 -timeout 60m $(PLAIN) $(BOTH)

# $(BENCH) is -all, or -trex DIR. Who isn't installed stands in the tables with that.
bench: senders ## Full tier: compare the software engine with other generators, and watch how evenly it sends, into docs/measured/speed.md; BENCH=-all has all axes (as root; 5 minutes)
	$(GO) run ./hack/bench -markdown docs/measured/speed.md $(BENCH)

bench-search: ## Full tier: our searches beside the library MLRsearch on simulated devices and on real packets, into docs/measured/search-bench.md; SEARCHES=n of each (as root; 9 minutes; Python makes an environment of its own)
	$(GO) run ./hack/bench-search -seeds $(SEARCHES) -markdown docs/measured/search-bench.md
	$(GO) run ./hack/bench-search -packets 2 -markdown docs/measured/search-bench.md

bench-operator: kube ## Full tier: take 1 000 LoadTests through a real API server: throughput, requests, memory, into docs/measured/scale.md (12 minutes)
	$(GO) run ./hack/bench-operator -markdown docs/measured/scale.md

fuzz: ## Full tier: fuzz what parses bytes, each target for FUZZ (9 minutes)
	hack/fuzz $(FUZZ)

clean: ## Remove what was built
	rm -rf bin
