# SPDX-License-Identifier: Apache-2.0
# make lists what there is to do. CI calls test (with RACE=1), test-peers, lint and fuzz.

GO        ?= go
FUZZTIME  ?= 10s
SCREENS   ?= screens
SIMULATE  ?= 2m
GOTESTSUM := $(GO) run gotest.tools/gotestsum@v1.13.0
# Tests that run a real etcd or a real Temporal, and an example for its workers, are
# modules of their own, so that these are not among the dependencies of pnagent. So are what makes web/dist and what makes the image.
MODULES   := attach/dipen/etcdtest attach/redis/testdata/asynq attach/sqldb/testdata/river attach/temporal/temporaltest examples/attach/temporal otlp/export/collectortest packaging/image web/bundle
# With PKG, lint looks only at what is in and below this folder; mutate changes it (./stats).
PKG       ?=
BELOW     := $(or $(PKG),.)
LINTER    := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GREMLINS  := github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0
GORELEASER := github.com/goreleaser/goreleaser/v2@v2.16.0
ACTIONLINT := github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
VALE      := github.com/errata-ai/vale/v3/cmd/vale@v3.7.1
# Where make build writes; the name of the image, and the processors that it is for.
TO        ?= .
IMAGE     ?= pnagent:dev
ARCH      ?= amd64 arm64
# What make prose reads: documents, scenarios, and comments. Golden .conf files hold names of a net, and web/dist has no comments.
PROSE     := ':!integrations/testdata/*.conf' ':!web/dist' '*.md' '*.go' '*.js' '*.css' '*.txt' '*.story' '*.yaml' '*.conf' '*.py' '*.c' '*.h' '*.rs'

.PHONY: help
help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## run everything in one process, with nothing installed
	$(GO) run ./cmd/pnagent demo

.PHONY: test
test: ## install what these tests need, run all but those of large peers, say what was skipped and why; RACE=1: with the race detector
	@scripts/deps
	@GO="$(GO)" scripts/test $(if $(RACE),race)

.PHONY: test-peers
test-peers: ## the same for tests of large peers: engines in Java and Python, databases, brokers, monitoring systems, a browser
	@scripts/deps peers
	@GO="$(GO)" scripts/test peers

.PHONY: model
model: ## check the models of docs/design/model.md with TLC: that they hold, and that they find the faults that were mended
	@scripts/deps peers
	$(GO) test -count=1 -tags peers -timeout 20m -v ./model

.PHONY: controlplane
controlplane: ## build etcd and Kubernetes' control plane for the tests of attach/kubernetes, in ten minutes or more, and run these
	PNAGENT_CONTROLPLANE=build $(GO) test -count=1 -tags peers -timeout 2h -run 'Stuck|Cron|Memory|Argo' -v ./attach/kubernetes

.PHONY: n8n
n8n: ## install n8n, which has 2,100 packages of npm, in five minutes or more, and run the test of attach/sqldb with it
	PNAGENT_N8N=install $(GO) test -count=1 -tags peers -timeout 1h -run TestN8nItself -v ./attach/sqldb

.PHONY: times
times: ## run test and test-peers, and write how long each package took into docs/design/tests.md
	@set -e; times=$$(mktemp -d); trap 'rm -rf $$times' EXIT; \
	TIMES=$$times $(MAKE) test test-peers; $(GO) run ./internal/timetable $$times docs/design/tests.md

.PHONY: simulate
simulate: ## simulate a fleet under random faults for SIMULATE (2m), and compare what it shows with what its engines did; a seed that fails is run again by PNAGENT_SEED=N go test
	cd e2e/simulation && $(GO) test -count=1 -timeout 0 -run TestAFleetUnderRandomFaults -for=$(SIMULATE)

.PHONY: long
long: ## run the random tests with all seeds, and end-to-end tests with the race detector in their programs; a seed that fails is run again by PNAGENT_SEED=N go test
	PNAGENT_LONG=1 $(GOTESTSUM) --format pkgname -- -count=1 -timeout 2h $$(git grep -l 'seeds\.Of(' -- '*_test.go' | xargs -n 1 dirname | sort -u | sed 's|^|./|')
	@GO="$(GO)" scripts/test programs

.PHONY: lint
lint: prose $(if $(PKG),,whole) ## gofmt, lines that do several things, golangci-lint with go vet, go.mod, what Windows and macOS get, workflows, known vulnerabilities, the English of documents and comments; PKG=./stats: only of this folder
	@changed=$$(git ls-files -co --exclude-standard '*.go' | grep "^$(BELOW:./%=%)" | xargs gofmt -l); test -z "$$changed" || { echo "gofmt would change:"; echo "$$changed"; exit 1; }
	@$(GO) run ./internal/golf $$(git ls-files -co --exclude-standard '*.go' | grep "^$(BELOW:./%=%)")
	$(GO) run $(LINTER) run $(BELOW)/...

.PHONY: prose
prose: ## check the English of documents, scenarios and comments
	@cd $(BELOW) && $(GO) run $(VALE) --output=line $$(git ls-files -co --exclude-standard $(PROSE))

# What lint looks for in the module as a whole.
.PHONY: whole
whole: vuln
	$(GO) mod tidy -diff
	$(GO) mod verify
	@set -e; for m in $(MODULES); do (cd $$m && $(GO) vet ./... && $(GO) mod tidy -diff); done
	$(GO) vet -tags slim ./cmd/pnagent
	@GO="$(GO)" scripts/others
	$(GO) run $(ACTIONLINT)

.PHONY: vuln
vuln: ## look for known vulnerabilities in what pnagent calls, where their database (VULNDB) can be reached
	@GO="$(GO)" VULNDB="$(VULNDB)" scripts/vuln

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME (10s)
	@GO="$(GO)" scripts/fuzz $(FUZZTIME)

.PHONY: mutate
mutate: ## change one thing after the other in the packages at and below PKG (./stats), and list what their tests do not notice
	@$(GO) run $(GREMLINS) unleash --workers 1 --timeout-coefficient 20 --invert-assignments --invert-logical --invert-loopctrl --remove-self-assignments \
		--exclude-files '\.pb\.go$$' --output-statuses lct $(or $(PKG),./stats)

.PHONY: soak
soak: ## the long proofs, some hours: snmpd restarted 20 times, processes killed 200 times a test, every reader on every generated module, alarms of RabbitMQ's queues after the default ten minutes, the live page used for 10 minutes, 10 minutes of fuzzing for each codec
	PNAGENT_TEST_RESTARTS=20 $(GO) test -count=1 -timeout 30m -run 'Snmpd|Master|Standby|Hung' ./agentx ./e2e/sidecar ./e2e/snmp
	PNAGENT_GATE=all $(GO) test -count=1 -timeout 30m -run Gate ./mib
	PNAGENT_KILLS=200 $(GO) test -count=1 -timeout 90m -run 'Killed|Requests' ./e2e/...
	PNAGENT_TEST_DEFAULT_ALARMS=1 $(GO) test -count=1 -timeout 30m -tags peers -run AQueueWithoutAConsumer ./e2e/attach
	PNAGENT_TEST_PAGE_MINUTES=10 $(GO) test -count=1 -timeout 30m -tags peers -run 'TestThePage/memory' ./web/pagetest
	@GO="$(GO)" scripts/fuzz 10m ./agentx/... ./snmp ./mib/...

.PHONY: size
size: ## measure what each module takes of the two programs of make build, and write it into docs/dependencies.md
	@GO="$(GO)" scripts/size

.PHONY: screens
screens: ## run the demo, and keep pictures of its page on a desk, a tablet and a phone, dark and light, in SCREENS (screens); docs/pictures/page.png is one of them
	mkdir -p "$(SCREENS)"
	PNAGENT_SCREENSHOTS="$(abspath $(SCREENS))" $(GO) test -count=1 -timeout 30m -tags peers -run '^TestTheDemoOnEveryScreen$$' ./e2e/page
	cp "$(SCREENS)/page.png" docs/pictures/page.png

.PHONY: bench
bench: ## run the benchmarks and print them beside their bases
	@$(GO) run ./internal/benchtable

.PHONY: suites
suites: ## try the files and the tests of other projects, with SUITES=DIR, a folder for their checkouts, which git gets from GitHub: docs/design/foreign-files.md
	@test -n "$(SUITES)" || { echo "SUITES is empty; expected a folder for checkouts of the suites"; exit 1; }
	@scripts/suites $(abspath $(SUITES))
	@cd e2e/suites && PNAGENT_SUITES=$(abspath $(SUITES)) $(GO) test -count=1 -tags peers -timeout 1h
	@cd e2e/commands && PNAGENT_SUITES=$(abspath $(SUITES)) $(GO) test -count=1 -run '^TestTheCommandsOfTheDocuments$$/^docs$$/^(attach|design)$$/^(perpetuum|expressions).md$$'
	@PNAGENT_SUITES=$(abspath $(SUITES)) $(GO) test -count=1 -tags peers -run 'TestThePage/files_of_MIWG' ./web/pagetest
	@PNAGENT_DMN_TCK=$(abspath $(SUITES))/tck/TestCases $(GO) test -count=1 -v -run '^TestCompatibilityKit' ./engine/guard/feel ./engine/guard/dmn

.PHONY: site
site: ## render the documents as a site with search, one page a command, and check its links, in build/site/html
	scripts/site build/site

.PHONY: clients
clients: ## test and build the packages for Python, Node.js and Java, as files to upload, in build/clients
	scripts/clients build/clients

.PHONY: bench-regions
bench-regions: ## measure nets in regions over JetStream, real processes, beside DiPeN's protocol (3 minutes)
	@cd e2e/logs && $(GO) test -count=1 -timeout 1h -run '^TestFiguresOfRegions$$' -figures .

.PHONY: scale
scale: ## measure what fleets of up to 100,000 engines take, as docs/scale.md has it
	@cd e2e/fleetsim && $(GO) test -count=1 -timeout 2h -v -run '^TestScale$$' . -scale "--sources 2,1000,10000,100000@30s --both 0 --warm-up 60s --silence 20s --markdown"

.PHONY: generate
generate: ## write what is generated: the compiled definition of the wire, what browsers load of the page, example MIB modules, dashboards, rules, pictures, references
	$(GO) generate ./...
	$(GO) run ./cmd/pnagent mib --dir mibs examples/*.pnml examples/*.bpmn
	$(GO) run ./cmd/pnagent dashboards
	$(GO) test ./cmd/pnagent ./mib ./attach/sqldb -run '^Test(TheReferenceIs|TheLettersAre|TheListOfMappingsIs)Current$$' -update
	$(GO) test ./integrations -run TestCommittedFilesAreCurrent -update

.PHONY: build
build: ## build the two programs of a release: ./pnagent, and ./pnagent-full, which it runs for commands that most processes do not need
	CGO_ENABLED=0 $(GO) build -trimpath $(STAMP) -ldflags='-s -w' -tags slim -o $(TO)/pnagent ./cmd/pnagent
	CGO_ENABLED=0 $(GO) build -trimpath $(STAMP) -ldflags='-s -w' -o $(TO)/pnagent-full ./cmd/pnagent

.PHONY: image
image: ## write the image of both into build/image, an OCI layout, and build/image.tar, for the processors ARCH (amd64 arm64) and with the name IMAGE (pnagent:dev)
	@set -e; for arch in $(ARCH); do GOOS=linux GOARCH=$$arch $(MAKE) build STAMP=-buildvcs=true TO=build/linux_$$arch; done
	cd packaging/image && $(GO) run . ../../build/image $(IMAGE) $(ARCH:%=../../build/linux_%)
	tar -C build/image -cf build/image.tar .

.PHONY: release
release: ## write the release of the tag of this commit into dist, and publish nothing: archives, deb, rpm, checksums, lists of modules; RELEASE=--snapshot: of what has no tag
	@GO="$(GO)" $(GO) run $(GORELEASER) release --clean --skip=publish,announce $(RELEASE)

.PHONY: test-release
test-release: ## write the release of a tag three times, compare two, and install, update and remove the package by apt, by rpm and by Ansible in a machine of its own, as root; build and run the image; check the chart; run programs of earlier versions beside this one (15 minutes or more)
	@scripts/deps release
	$(GO) test -count=1 -tags release -timeout 1h -v ./e2e/release ./e2e/upgrade
