// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// beside starts or builds what a page has beside pnagent and NATS: servers at
// ports that the page names, and programs in bin. The result is environment for
// the shell.
var beside = map[string]func(t *testing.T, ports ports, bin string) (env []string){
	"docs/attach/dipen.md":  etcdFor,
	"docs/attach/scrape.md": rabbitFor,
	"docs/operators.md":     servedFor,
	"docs/sidecar-pairs.md": snmpdFor,
	"docs/snmpv3.md":        userFor,
	"docs/sres.md":          prometheusFor,

	"docs/runbooks/netDeadlocked.md":     stuckFor,
	"docs/runbooks/tokenStuck.md":        stuckFor,
	"docs/runbooks/transitionFailing.md": stuckFor,
	"docs/runbooks/transitionStarved.md": stuckFor,
}

// etcdFor builds etcd, of the module that tests package dipen with it. It listens at
// free ports.
func etcdFor(t *testing.T, ports ports, bin string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(bin, "etcd"), "go.etcd.io/etcd/server/v3")
	cmd.Dir = filepath.Join("..", "..", "attach", "dipen", "etcdtest")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building etcd: %v\n%s", err, out)
	}
	const client, peer = "http://127.0.0.1:2379", "http://127.0.0.1:2380"
	var env []string
	for _, v := range []string{"ETCD_LISTEN_CLIENT_URLS=" + client, "ETCD_ADVERTISE_CLIENT_URLS=" + client, "ETCD_LISTEN_PEER_URLS=" + peer,
		"ETCD_INITIAL_ADVERTISE_PEER_URLS=" + peer, "ETCD_INITIAL_CLUSTER=default=" + peer} {
		env = append(env, ports.there.Replace(v))
	}
	return env
}

// rabbitFor starts RabbitMQ with the messages that the page shows: of 50, a consumer
// took 9 and acknowledged 2.
func rabbitFor(t *testing.T, ports ports, _ string) []string {
	t.Helper()
	broker := kit.StartRabbit(t, ports.there.Replace("15692"))
	broker.Connect(t).Publish(t, "orders", 50)
	consumer := broker.Connect(t)
	consumer.WriteFrame(t, "SUBSCRIBE", "id:1", "destination:/amq/queue/orders", "ack:client-individual", "prefetch-count:7")
	for range 2 {
		message := regexp.MustCompile(`(?m)^ack:(.*)$`).FindStringSubmatch(consumer.ReadFrame(t, "MESSAGE"))
		consumer.WriteFrame(t, "ACK", "id:"+message[1])
	}
	return nil
}

// snmpdFor starts a snmpd. $HOST is its address for managers, and $AGENTX for sidecars.
func snmpdFor(t *testing.T, _ ports, _ string) []string {
	t.Helper()
	snmpd := snmptest.Start(t, snmptest.Config{})
	return []string{"HOST=" + snmpd.Addr, "AGENTX=" + snmpd.AgentX}
}

// servedFor starts a snmpd at $HOST that shows an engine by a sidecar.
func servedFor(t *testing.T, _ ports, _ string) []string {
	t.Helper()
	snmpd, url, dir := snmptest.Start(t, snmptest.Config{}), kit.StartNATS(t), t.TempDir()
	lock, err := os.ReadFile("../../mibs/oids.lock")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "oids.lock"), lock, 0o600); err != nil {
		t.Fatal(err)
	}
	kit.Serve(t, url, "--agentx", snmpd.AgentX, "--mib-dir", dir)
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	kit.RunEngine(t, url, "berlin", "--bindings", filepath.Join(examples, "bindings.yaml"), filepath.Join(examples, "order-fulfilment.pnml"))
	return []string{"HOST=" + snmpd.Addr}
}

// userFor starts a snmptrapd at $SINK and a snmpd at $HOST with the user of the page.
func userFor(t *testing.T, _ ports, _ string) []string {
	t.Helper()
	page, err := os.ReadFile("../../docs/snmpv3.md")
	if err != nil {
		t.Fatal(err)
	}
	user := regexp.MustCompile(`(?m)^createUser noc .*$`).FindString(string(page))
	snmpd := snmptest.Start(t, snmptest.Config{Lines: []string{user, "rouser noc priv"}})
	return []string{"SINK=" + snmptest.StartTrapd(t, user).Addr, "HOST=" + snmpd.Addr}
}

// prometheusFor starts a Prometheus at $PROMETHEUS that scrapes the sidecar.
func prometheusFor(t *testing.T, ports ports, _ string) []string {
	t.Helper()
	return []string{"PROMETHEUS=" + kit.StartPrometheus(t, kit.Web{URL: ports.there.Replace("http://127.0.0.1:9797")}).URL}
}

// stuckFor runs the engine of the runbooks, in which claims are stuck.
func stuckFor(t *testing.T, ports ports, _ string) []string {
	t.Helper()
	url := ports.there.Replace("nats://127.0.0.1:4222")
	kit.StartNATS(t, "--port", ports.there.Replace("4222"))
	kit.RunEngine(t, url, "berlin", "--instances", "50", "--bindings", kit.Write(t, "bank.yaml", strings.Replace(kit.BankIsClosed, `["false"]`, `[test, -e, bank.open]`, 1)), kit.ClaimProcess(t))
	return []string{"PNAGENT_NATS_URL=" + url}
}
