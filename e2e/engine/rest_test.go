// SPDX-License-Identifier: Apache-2.0

//go:build linux

package engine

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/buildtest"
)

// wakeups returns how often threads of a process have waited so far.
func wakeups(t *testing.T, p *kit.Process) (n int) {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", p.Cmd.Process.Pid))
	if err != nil || len(threads) == 0 {
		t.Fatalf("%d threads: %v", len(threads), err)
	}
	for _, thread := range threads {
		text, err := os.ReadFile(thread)
		if os.IsNotExist(err) { // it has ended
			continue
		}
		m := regexp.MustCompile(`(?m)^voluntary_ctxt_switches:\s+(\d+)$`).FindSubmatch(text)
		if err != nil || m == nil {
			t.Fatalf("%s: %v", text, err)
		}
		k, err := strconv.Atoi(string(m[1]))
		if err != nil {
			t.Fatal(err)
		}
		n += k
	}
	return n
}

// memory returns the resident set of a process, in KiB.
func memory(t *testing.T, p *kit.Process) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Cmd.Process.Pid))
	m := regexp.MustCompile(`(?m)^VmRSS:\s+(\d+) kB$`).FindSubmatch(text)
	if err != nil || m == nil {
		t.Fatalf("%s: %v", text, err)
	}
	n, err := strconv.Atoi(string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// mostMemory is what a process may have at rest, in KiB. Most of it is of the program's file.
const mostMemory = 25 << 10

// slim builds the program that processes run which serve or play nets.
func slim(t *testing.T) string {
	t.Helper()
	if kit.UnderRace {
		t.Skip("the program is not that of a release")
	}
	program := filepath.Join(t.TempDir(), "pnagent")
	if err := buildtest.Build(t.Context(), ".", program, "github.com/pnagent/pnagent/cmd/pnagent", "-tags", "slim"); err != nil {
		t.Fatal(err)
	}
	return program
}

// start is what a process did that only printed its version: the pages that it touched first,
// which are most of its time, and the bytes that its packages allocated before main.
func start(t *testing.T, program, flag string) (faults, octets int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, flag)
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, m := range regexp.MustCompile(`(?m)^init .* (\d+) bytes, `).FindAllSubmatch(out, -1) {
		n, err := strconv.Atoi(string(m[1]))
		if err != nil {
			t.Fatal(err)
		}
		octets += n
	}
	return int(cmd.ProcessState.SysUsage().(*syscall.Rusage).Minflt), octets
}

// A command that does nothing else costs little more than that of a program of a third of the
// size: packages make their tables and patterns at the first use.
func TestAStartPreparesLittle(t *testing.T) {
	faults, octets := start(t, slim(t), "version")
	most, _ := start(t, kit.Built().NATS, "--version")
	most *= 2
	if faults > most {
		t.Errorf("%d page faults; want at most %d, twice those of nats-server", faults, most)
	}
	if most := 800_000; octets > most {
		t.Errorf("packages allocate %d bytes before main; want at most %d", octets, most)
	}
}

// At rest a process wakes for a message a second or for a View each four, and for the pings of
// its connection. Other load makes the runtime's monitor look more often, so the quietest of some
// intervals counts. The full program also wakes for the NATS server of the demo.
func TestAProcessAtRestIsSmallAndWakesRarely(t *testing.T) {
	program := slim(t)
	const interval = 8 * time.Second
	net := kit.Write(t, "net.pnml", `<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id="rest" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="g">
		<place id="p"><initialMarking><text>1</text></initialMarking></place><transition id="t"/><arc id="a" source="p" target="t"/></page></net></pnml>`)
	bindings := kit.Write(t, "bindings.yaml", "nets: {rest: {transitions: {t: {delay: 1h}}}}\n")
	for name, of := range map[string]struct {
		args []string
		most float64 // a second
	}{
		"an engine": {[]string{"engine", net, "--bindings", bindings}, 4},
		"a sidecar": {[]string{"serve", "--web.listen-address", "127.0.0.1:0"}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := kit.Start(t, program, append(of.args, "--nats", kit.StartNATS(t))...)
			time.Sleep(interval)
			if got := memory(t, p); got > mostMemory {
				t.Errorf("%d KiB of memory; want at most %d", got, mostMemory)
			}
			rates := []float64{}
			for range 8 {
				before := wakeups(t, p)
				time.Sleep(interval)
				rate := float64(wakeups(t, p)-before) / interval.Seconds()
				if rate <= of.most {
					return
				}
				rates = append(rates, rate)
			}
			t.Errorf("%.1f wake-ups a second; want an interval of %v with at most %.0f", rates, interval, of.most)
		})
	}
}
