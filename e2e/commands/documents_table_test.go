// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"regexp"
	"strings"
	"testing"
)

// exemption is a command of the documents that is not typed as it stands.
type exemption struct {
	page    string // a pattern of filepath.Match
	command string // how it begins
	why     string
	with    []string // pairs of a text of the command and what is typed in its place
	instead string   // typed instead of the command; empty for nothing
	needs   string   // without this checkout in the folder of suites the rest of the page is not typed
}

// Reasons for which commands cannot run in a test.
const (
	fromNetwork = "downloads from the internet"
	isBuilt     = "the test has built the programs"
	asRoot      = "needs root and systemd"
	aHost       = "names a host of the reader's"
	minutes     = "runs for minutes"
)

// short ends the options of a simulated fleet that is measured only to see that it can be.
const short = " --warm-up 1s --measure 1s --pnagent '$(command -v pnagent)"

// aLog writes the event log of three claims, and bindings that have no times: the log has them.
const aLog = `{ echo '<log>'; for case in 1 2 3; do echo "<trace><string key='concept:name' value='$case'/>"; for at in start:00 complete:09; do ` +
	`echo "<event><string key='concept:name' value='assess'/><string key='lifecycle:transition' value='${at%:*}'/><date key='time:timestamp' value='2026-01-05T0$case:${at#*:}:00Z'/></event>"; ` +
	`done; echo '</trace>'; done; echo '</log>'; } >claims.xes; sed 's/{delay: {exponential: 10m}, pool/{pool/; /arrivals/d' examples/claim.yaml >staff.yaml; `

// notTyped lists every command of the documents that the test does not type as
// it stands.
var notTyped = []exemption{
	{page: "CONTRIBUTING.md", command: "git clone", why: fromNetwork, instead: "git clone -q $ROOT pnagent && cd pnagent"},
	{page: "CONTRIBUTING.md", command: "make lint", why: "builds the linter", with: []string{"make", "make -n"}},
	{page: "README.md", command: "git clone", why: fromNetwork},
	{page: "README.md", command: "make build", why: isBuilt},
	{page: "README.md", command: "export PATH", why: isBuilt},
	{page: "README.md", command: "pnagent demo", why: "runs until it is stopped", instead: "pnagent demo --for 2s"},
	{page: "docs/overview.md", command: "nats-server", why: "the demo was stopped meanwhile", instead: "kill %1; wait %1; nats-server &"},
	{page: "docs/overview.md", command: "pnagent serve", why: "needs snmpd's socket", instead: "pnagent serve --nats nats://127.0.0.1:4222 examples/order-fulfilment.pnml &"},
	{page: "docs/alarms.md", command: "pnagent alarms", why: "needs active alarms; TestAlarmsAreAcknowledgedAndSilencedFromTheCommandLine types them"},
	{page: "docs/attach/perpetuum.md", command: "git clone", why: fromNetwork, instead: "cp -r $SUITES/perpetuum .", needs: "perpetuum"},
	{page: "docs/attach/scrape.md", command: "pnagent attach scrape --check office.yaml", why: "makes a mistake in the mapping above", instead: "" +
		"sed -n '/^about/,/^```/p' docs/attach/scrape.md | sed '$d; s/\"{desk}\":/\"{desk\":/' >office.yaml; pnagent attach scrape --check office.yaml"},
	{page: "docs/attach/sdk.md", command: "go run .", why: "needs the module", instead: "" +
		"(cd $ROOT/examples/attach/go && exec go run . nats://127.0.0.1:4222 ../orders.pnml shop-1 600) &"},
	{page: "docs/attach/README.md", command: "pnagent attach sql --once", why: "needs Graphile Worker; tests of attach/sqldb look at a real one, and hold what is printed"},
	{page: "docs/attach/sql.md", why: "needs Camunda; a test of attach/sqldb types them, with a real one"},
	{page: "docs/attach/camunda8.md", why: "needs Camunda 8; a test of attach/camunda8 types them, with the real engine"},
	{page: "docs/attach/redis.md", why: "needs BullMQ; a test of attach/redis types them, with the real one"},
	{page: "docs/attach/kubernetes.md", why: "needs a cluster; a test of attach/kubernetes types them, with a real API server"},
	{page: "docs/attach/temporal.md", why: "needs Temporal; attach/temporal/temporaltest types it"},
	{page: "docs/design/expressions.md", why: "needs a clone of the kit", needs: "tck", with: []string{
		"PNAGENT", "cd $ROOT; PNAGENT", "/path/to", "$SUITES"}},
	{page: "docs/design/model.md", command: "make model", why: "needs Java and Maven; package model runs it with those", with: []string{"make", "cd $ROOT; make -n"}},
	{page: "docs/containers.md", why: "needs Docker and a cluster; e2e/release builds and runs the image, and renders the chart"},
	{page: "docs/otlp.md", command: "pnagent serve", why: "needs a collector; e2e/otlp has one", instead: "" +
		"nats-server & pnagent serve --mib-dir '' --otlp.endpoint http://127.0.0.1:4318 --otlp.interval 1s & until curl -sf http://127.0.0.1:9797/metrics | grep '^pnagent_otlp_exports_total.*failed.* [1-9]'; do sleep .1; done"},
	{page: "docs/otlp.md", command: "pnagent engine", why: "needs a collector; e2e/otlp has one", with: []string{"pnagent engine", "pnagent engine --firings 100", "orders.pnml", "examples/order-fulfilment.pnml"}},
	{page: "docs/regions.md", command: "pnagent engine --nats nats://10.0.0.1", why: "runs on several machines", with: []string{
		"10.0.0.1", "127.0.0.1", "100000 orders.pnml", "1000 --bindings examples/bindings.yaml --nats.prefix other examples/order-fulfilment.pnml & " +
			"until pnagent regions --nats nats://127.0.0.1:4222 --nats.prefix other order-fulfilment | grep '^p15 '; do sleep .1; done"}},
	{page: "docs/scale.md", command: "go test -timeout 2h ./e2e/fleetsim -v -run TestScale -scale -- ", why: minutes, with: []string{
		"go", "cd $ROOT; go", "-scale -- ", "-scale '--sources 20 --tree 0 --both 0" + short}},
	{page: "docs/scale.md", command: "go test -timeout 2h ./e2e/fleetsim -v -run TestScale -scale '--sources", why: minutes, with: []string{
		"500,2000", "20", "--both 0'", "--both 0" + short}},
	{page: "docs/scale.md", command: "go test -timeout 2h ./e2e/fleetsim -v -run TestScale -scale '--nats", why: minutes, with: []string{
		"go test", "nats-server & go test", "nats://nats.example.org'", "nats://127.0.0.1:4222 --sources 20 --tree 0 --both 0" + short}},
	{page: "docs/scale.md", command: "go test -timeout 2h ./e2e/fleetsim -v -run TestScale -scale '--state-dir", why: minutes, with: []string{
		"/dev/shm'", "/dev/shm --sources 0 --tree 20 --both 0" + short}},
	{page: "docs/scale.md", command: "go test -timeout 2h ./e2e/fleetsim -v -run TestScale -scale '--memory'", why: minutes, with: []string{
		"go", "cd $ROOT; go", "'--memory'", "'--memory --sources 20 --tree 0 --both 0" + short}},
	{page: "docs/scale.md", command: "go test -timeout 2h ./e2e/fleetsim -v -run TestScale -scale '--silence 20s'", why: minutes, with: []string{
		"go", "cd $ROOT; go", "'--silence 20s'", "'--silence 1s --sources 20 --tree 0 --both 0" + short}},
	{page: "docs/scale.md", command: "make scale", why: minutes, with: []string{"make", "make -n"}},
	{page: "docs/simulate.md", command: "pnagent simulate --from claims.xes", why: "needs a log of the reader's", with: []string{
		"pnagent simulate", aLog + "pnagent simulate --for 1d --runs 5", " claim.bpmn", " examples/claim.bpmn"}},
	{page: "docs/sidecar-pairs.md", command: "(umask", why: asRoot, with: []string{"(umask", "mkdir -p etc/pnagent etc/systemd/system; (umask", "/etc", "etc"}},
	{page: "docs/sidecar-pairs.md", command: "pnagent serve", why: asRoot + "; this is what the units run", with: []string{
		"pnagent serve", "nats-server & for one in primary:9797 standby:9798; do pnagent serve", "/etc", "etc",
		"…", "--config examples/pair/${one%:*}.yaml --nats nats://127.0.0.1:4222 --web.listen-address 127.0.0.1:${one#*:} --agentx $AGENTX --mib-dir mibs --alarm-state ${one%:*}.state &\n" +
			"until curl -sf 127.0.0.1:${one#*:}/-/ready; do sleep .1; done; done",
	}},
	{page: "docs/sidecar-pairs.md", command: "install", why: asRoot, with: []string{"/etc", "etc"}},
	{page: "docs/sidecar-pairs.md", command: "pnagent check-config", why: asRoot, with: []string{"/etc", "etc"}},
	{page: "docs/sidecar-pairs.md", command: "systemctl", why: asRoot},
	{page: "docs/sidecar-pairs.md", command: "snmpget", why: aHost, with: []string{"…", "-v2c -c public -M mibs:mibs/smi -m ALL", "HOST", "$HOST"}},
	{page: "docs/sidecar-pairs.md", command: "PNAGENT_TEST_TAKEOVERS", why: minutes, instead: "" +
		"grep -q 'func TestAtEveryTakeOver' $ROOT/e2e/sidecar/*_test.go && grep -q '\"PNAGENT_TEST_TAKEOVERS\"' $ROOT/e2e/sidecar/*_test.go"},
	{page: "docs/snmpv3.md", command: "pnagent serve --snmp 0.0.0.0", why: aHost, with: []string{
		"pnagent serve", "grep -om1 'noc SHA-256 .*' docs/snmpv3.md >users; chmod 600 users; nats-server & pnagent serve --nats nats://127.0.0.1:4222 --mib-dir mibs",
		"0.0.0.0", "127.0.0.1", "192.0.2.0/24", "127.0.0.0/8 &"}},
	{page: "docs/operators.md", command: "snmpdelta", why: aHost, with: []string{"snmpdelta", "timeout 5 snmpdelta", "-m", "-M mibs:mibs/smi -m", "HOST", "$HOST"}},
	{page: "docs/operators.md", command: "snmpget", why: aHost, with: []string{"-m", "-M mibs:mibs/smi -m", "HOST", "$HOST"}},
	{page: "docs/snmpv3.md", command: "echo 0x$(snmpget", why: aHost, with: []string{"HOST", "$HOST"}},
	{page: "docs/snmpv3.md", command: "snmpget", why: aHost, with: []string{"HOST", "127.0.0.1"}},
	{page: "docs/snmpv3.md", command: "snmpwalk", why: aHost, with: []string{"HOST", "127.0.0.1", "9999.9999", "9999.9999 | grep -q Gauge32"}},
	{page: "docs/snmpv3.md", command: "pnagent serve --snmp.users-file", why: aHost + "; here it has an alarm to send, because there is no NATS", with: []string{
		"pnagent serve", "echo '{settle: 0s, defaults: {nats: {for: 0s}}}' >alarms.yaml; pnagent serve --nats nats://127.0.0.1:1 --web.listen-address 127.0.0.1:9798 --mib-dir sender --alarms alarms.yaml",
		"192.0.2.9:162", "$SINK", "--snmp.inform", "--snmp.inform & until curl -s 127.0.0.1:9798/metrics | grep -E '^pnagent_snmp_informs_acknowledged_total.* [1-9]'; do sleep .1; done"}},
	{page: "docs/sres.md", command: "pnagent report --prometheus", why: aHost, with: []string{
		"pnagent", "nats-server & pnagent engine --nats nats://127.0.0.1:4222 --source shop-1 --bindings examples/bindings.yaml examples/order-fulfilment.pnml & pnagent serve --nats nats://127.0.0.1:4222 --web.listen-address 127.0.0.1:9797 --mib-dir mibs & " +
			"until curl -s $PROMETHEUS/api/v1/query?query=petrinet_instances | grep active; do sleep .1; done; pnagent",
		"http://prometheus:9090", "$PROMETHEUS", "report.html", "report.html && grep 'Net order-fulfilment' report.html"}},
	{page: "docs/tree.md", command: "pnagent serve --nats nats://engines.example.org --share", why: aHost, with: []string{
		"pnagent serve", "touch nats.conf; nats-server -c nats.conf & nats=$!; for i in 1 2 3 4; do pnagent serve",
		"nats://engines.example.org", "nats://127.0.0.1:4222",
		"I/4", "$i/4", "below-I", "below-$i", "/var/lib/pnagent/counters", "counters/$i",
		"--from-zero", "--from-zero --mib-dir '' --web.listen-address 127.0.0.1:$((i == 1 ? 9798 : 0)) & done",
	}},
	{page: "docs/tree.md", command: "pnagent serve --nats nats://engines.example.org --nats.prefix", why: aHost, with: []string{
		"nats://engines.example.org", "nats://127.0.0.1:4222", "--agentx unix:/var/agentx/master", "&"}},
	{page: "docs/tree.md", command: "for i in", why: aHost, with: []string{"nats://engines.example.org", "nats://127.0.0.1:4222"}},
	{page: "docs/tree.md", command: "nats-server --signal", why: "finds the server by its name; then a sidecar drops nothing of other shares any more", with: []string{
		"nats-server", "sed -n '/^mappings/,/^}/p' docs/tree.md >nats.conf; nats-server", "reload", "reload=$nats; n() { curl -s 127.0.0.1:9798/metrics | grep ^pnagent_messages_$1; }; " +
			"a=$(n passed_over) b=$(n total); sleep 2; test \"$a\" = \"$(n passed_over)\" -a \"$b\" != \"$(n total)\""}},
	{page: "docs/tree.md", command: "pnagent alarms", why: "needs an alarm that is unknown; TestAKilledEngineOfASidecarBelowKeepsItsAlarmAtTheRoot types it"},
	{page: "docs/tutorial.md", command: "git clone", why: fromNetwork},
	{page: "docs/tutorial.md", command: "go build", why: isBuilt},
	{page: "docs/tutorial.md", command: "export PATH", why: isBuilt},
}

// typed returns what is typed of a command; empty for nothing.
func (e exemption) typed(t *testing.T, line string) string {
	t.Helper()
	if e.with == nil {
		return e.instead
	}
	for i := 0; i < len(e.with); i += 2 {
		if !strings.Contains(line, e.with[i]) {
			t.Errorf("%s: %s has no %q, which notTyped replaces", e.page, line, e.with[i])
		}
	}
	return strings.NewReplacer(e.with...).Replace(line)
}

// suites is the variable with the folder that has checkouts of other projects.
const suites = "PNAGENT_SUITES"

// random are the pages whose nets play at random, with what differs from run to
// run: numbers, and the engines that come first.
var random = map[string]*regexp.Regexp{
	"docs/overview.md":           regexp.MustCompile(`\d+|berlin|osaka`),
	"docs/journal.md":            regexp.MustCompile(`[0-9a-f]{16}|\d+`),
	"docs/operators.md":          regexp.MustCompile(`: \d+`),
	"docs/regions.md":            regexp.MustCompile(`\d+|\b[cd]\b`),
	"docs/sidecar-pairs.md":      regexp.MustCompile(`pnAgentName.0 = STRING: \S+`),
	"docs/tree.md":               regexp.MustCompile(`-?AGE`),
	"examples/regions/README.md": regexp.MustCompile(`\d+`),
}
