// SPDX-License-Identifier: Apache-2.0

package e2e

import "regexp"

// exemption is a command of the documents that is not typed as it stands.
type exemption struct {
	page    string // a pattern of filepath.Match
	command string // how it begins
	why     string
	instead string // typed in its place; empty for nothing
	needs   string // without this checkout in the folder of suites the rest of the page is not typed
}

// Reasons for which commands cannot run in a test.
const (
	fromNetwork = "downloads from the internet"
	isBuilt     = "the test has built the programs"
	asRoot      = "needs root and systemd"
	aHost       = "names a host of the reader's"
)

// notTyped lists every command of the documents that the test does not type as
// it stands.
var notTyped = []exemption{
	{page: "README.md", command: "go run ./cmd/pnagent demo", why: isBuilt, instead: "pnagent demo &"},
	{page: "README.md", command: "nats-server", why: "the demo was stopped meanwhile", instead: "kill %1; wait %1; nats-server &"},
	{page: "README.md", command: "pnagent serve", why: "needs snmpd's socket", instead: "pnagent serve --nats nats://127.0.0.1:4222 examples/order-fulfilment.pnml &"},
	{page: "README.md", command: "make test", why: "runs all tests"},
	{page: "docs/attach/perpetuum.md", command: "git clone", why: fromNetwork, instead: "cp -r $SUITES/perpetuum .", needs: "perpetuum"},
	{page: "docs/attach/scrape.md", command: "pnagent attach scrape --check office.yaml", why: "makes a mistake in the mapping above", instead: "" +
		"sed -n '/^about/,/^```/p' docs/attach/scrape.md | sed '$d; s/\"{desk}\":/\"{desk\":/' >office.yaml; pnagent attach scrape --check office.yaml"},
	{page: "docs/attach/sdk.md", command: "go run .", why: "needs the module", instead: "" +
		"(cd $ROOT/examples/attach/go && exec go run . nats://127.0.0.1:4222 ../orders.pnml shop-1 600) &"},
	{page: "docs/attach/sql.md", why: "needs Camunda; a test of attach/sqldb types them, with a real one"},
	{page: "docs/attach/camunda8.md", why: "needs Camunda 8; a test of attach/camunda8 types them, with the real engine"},
	{page: "docs/attach/temporal.md", why: "needs Temporal; attach/temporal/temporaltest types it"},
	{page: "docs/design/expressions.md", why: "needs a clone of the kit"},
	{page: "docs/regions.md", command: "pnagent engine --nats nats://10.0.0.1", why: "runs on several machines"},
	{page: "docs/scale.md", why: "measures for minutes"},
	{page: "docs/sidecar-pairs.md", command: "install", why: asRoot},
	{page: "docs/sidecar-pairs.md", command: "pnagent check-config", why: asRoot},
	{page: "docs/sidecar-pairs.md", command: "systemctl", why: asRoot},
	{page: "docs/sidecar-pairs.md", command: "(umask", why: asRoot},
	{page: "docs/sidecar-pairs.md", command: "pnagent serve", why: asRoot},
	{page: "docs/sidecar-pairs.md", command: "snmpget", why: aHost},
	{page: "docs/sidecar-pairs.md", command: "curl", why: aHost},
	{page: "docs/sidecar-pairs.md", command: "PNAGENT_TEST_TAKEOVERS", why: "runs for minutes"},
	{page: "docs/snmpv3.md", why: aHost + "; TestAUserWalksWithoutSnmpd types them"},
	{page: "docs/sres.md", command: "pnagent report --prometheus", why: aHost},
	{page: "docs/tree.md", why: aHost},
	{page: "docs/tutorial.md", command: "git clone", why: fromNetwork},
	{page: "docs/tutorial.md", command: "go build", why: isBuilt},
	{page: "docs/tutorial.md", command: "go install", why: fromNetwork},
	{page: "docs/tutorial.md", command: "export PATH", why: isBuilt},
}

// suites is the variable with the folder that has checkouts of other projects.
const suites = "PNAGENT_SUITES"

// random are the pages whose nets play at random, with what differs from run to
// run: numbers, and the engines that come first.
var random = map[string]*regexp.Regexp{
	"README.md":                  regexp.MustCompile(`\d+|berlin|osaka`),
	"docs/journal.md":            regexp.MustCompile(`[0-9a-f]{16}|\d+`),
	"docs/regions.md":            regexp.MustCompile(`\d+|\b[cd]\b`),
	"examples/regions/README.md": regexp.MustCompile(`\d+`),
}
