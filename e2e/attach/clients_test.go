// SPDX-License-Identifier: Apache-2.0

//go:build peers

package attach

import (
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/porttest"
	"github.com/pnagent/pnagent/telemetry"
)

// client is a package of clients/, as its users install it.
type client struct {
	name, program, debian string
	orders                func(dir string) []string // the command that runs its example
}

const clientsDir = "../../clients"

var clients = []client{
	{"python", "python3", "python3-venv", func(dir string) []string {
		return []string{filepath.Join(dir, "python/bin/python"), filepath.Join(dir, "src/python/examples/orders.py")}
	}},
	{"node", "npm", "npm", func(dir string) []string { return []string{"node", filepath.Join(dir, "node/orders.mjs")} }},
	{"java", "mvn", "maven", func(dir string) []string {
		return []string{"java", "-cp", filepath.Join(dir, "java", "*"), filepath.Join(dir, "src/java/examples/Orders.java")}
	}},
}

// install tests and builds a package, and installs it into a folder.
func (c client) install(t *testing.T, dir string) {
	t.Helper()
	kit.Need(t, c.program, c.debian)
	out, err := exec.CommandContext(t.Context(), "../../scripts/clients", dir, c.name).CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 77 {
		t.Skipf("what the package needs cannot be fetched:\n%s", out)
	}
	if err != nil {
		t.Fatalf("scripts/clients %s: %v\n%s", c.name, err, out)
	}
	if c.name == "node" { // its imports are found beside the installed package
		if out, err := exec.CommandContext(t.Context(), "cp", filepath.Join(clientsDir, "node/examples/orders.js"), filepath.Join(dir, "node/orders.mjs")).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
}

// run starts the example of a package.
func (c client) run(dir string) runsOrders {
	return func(t *testing.T, natsURL, pnml, source string, seconds int) *kit.Process {
		command := c.orders(dir)
		path, err := exec.LookPath(command[0])
		if err != nil {
			t.Fatal(err)
		}
		return kit.Start(t, path, append(command[1:], natsURL, pnml, source, fmt.Sprint(seconds))...)
	}
}

// The packages pass the tests of their languages, can be built and installed, and what they publish is
// shown in every output, without findings of wire check.
func TestPackagesOfOtherLanguages(t *testing.T) {
	t.Parallel()
	var all []language
	for _, c := range clients {
		dir := t.TempDir()
		t.Run(c.name, func(t *testing.T) {
			c.install(t, dir)
			run := c.run(dir)
			followsACollector(t, run)
			all = append(all, language{c.name, run})
		})
	}
	ordersAreTheSame(t, all)
}

// followsACollector checks that an engine waits for its server, follows the interval of a collector, answers it meanwhile, comes
// back after its server, and says goodbye.
func followsACollector(t *testing.T, run runsOrders) {
	t.Helper()
	host, port, err := net.SplitHostPort(porttest.Addr(t))
	if err != nil {
		t.Fatal(err)
	}
	address := "nats://" + net.JoinHostPort(host, port)
	early := run(t, address, absolute(t, "orders.pnml"), "early", 0)
	engine := run(t, address, absolute(t, "orders.pnml"), "asked", 9)
	ends(t, early) // which has no server
	serve := func() *kit.Process { return kit.Start(t, kit.Built().NATS, "--addr", host, "--port", port) }
	server := serve()
	var nc *nats.Conn
	kit.Until(t, "the server answers", func() (err error) {
		nc, err = nats.Connect(address, nats.MaxReconnects(-1), nats.ReconnectWait(kit.PollEvery))
		return err
	})
	defer nc.Close()
	messages, err := nc.SubscribeSync(telemetry.DefaultPrefix + ".*.orders.asked")
	if err != nil || nc.Flush() != nil {
		t.Fatal(err)
	}
	publish := func(subject, text string) {
		if err := errors.Join(nc.Publish(subject, []byte(text)), nc.Flush()); err != nil {
			t.Fatal(err)
		}
	}
	const second, longest = time.Second, 30 * time.Second
	first := next(t, messages, "the first one", func(s *telemetry.Snapshot) bool { return s.Full && s.Interval == second })
	publish(telemetry.Subjects{}.Hello(), fmt.Sprintf(`{"collector":"a test","interval":%d}`, longest.Microseconds()))
	slow := next(t, messages, "one of the new interval", func(s *telemetry.Snapshot) bool { return s.Interval == longest })
	for _, ask := range []string{telemetry.Subjects{}.Hello(), telemetry.Subjects{}.Full("orders", "asked")} {
		publish(ask, "")
		next(t, messages, "the answer to "+ask, func(s *telemetry.Snapshot) bool { return s.Full && s.Seq > slow.Seq })
	}
	publish(telemetry.Subjects{}.Hello(), `{"collector":"a test","interval":0}`)
	publish(telemetry.Subjects{}.Hello(), "")
	last := next(t, messages, "one of its own interval", func(s *telemetry.Snapshot) bool { return s.Interval == second })

	server.Stop(t, syscall.SIGTERM)
	serve()
	again := next(t, messages, "one behind the restart of the server", func(s *telemetry.Snapshot) bool { return s.Full && s.Seq > last.Seq+1 })
	if again.Epoch != first.Epoch {
		t.Errorf("epoch %d after the restart of the server; want %d", again.Epoch, first.Epoch)
	}
	ends(t, engine)
	next(t, messages, "the bye", func(s *telemetry.Snapshot) bool { return s.Bye })
}

// ends has a program end by itself.
func ends(t *testing.T, p *kit.Process) {
	t.Helper()
	if err := p.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.Wait(t)
}

// next returns the next snapshot of which something is so.
func next(t *testing.T, sub *nats.Subscription, what string, is func(*telemetry.Snapshot) bool) telemetry.Snapshot {
	t.Helper()
	var d telemetry.Decoder
	deadline := time.Now().Add(kit.Patience)
	for {
		m, err := sub.NextMsg(time.Until(deadline))
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if len(m.Data) == 0 { // a request for a snapshot
			continue
		}
		var s telemetry.Snapshot
		if err := d.Decode(m.Data, &s); err != nil {
			t.Fatalf("%s: %v", m.Subject, err)
		}
		if is(&s) {
			return s
		}
	}
}
