// SPDX-License-Identifier: Apache-2.0

//go:build linux

package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
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

// At rest a process wakes for a message a second or for a View each four, and for the pings of
// its connection. Other load makes the runtime's monitor look more often, so the quietest of some
// intervals counts. The full program also wakes for the NATS server of the demo.
func TestAProcessAtRestWakesRarely(t *testing.T) {
	if kit.UnderRace {
		t.Skip("the race detector wakes threads of its own")
	}
	const interval = 8 * time.Second
	net := kit.Write(t, "net.pnml", `<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id="rest" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="g">
		<place id="p"><initialMarking><text>1</text></initialMarking></place><transition id="t"/><arc id="a" source="p" target="t"/></page></net></pnml>`)
	program := filepath.Join(t.TempDir(), "pnagent")
	if err := buildtest.Build(t.Context(), ".", program, "github.com/pnagent/pnagent/cmd/pnagent", "-tags", "slim"); err != nil {
		t.Fatal(err)
	}
	bindings := kit.Write(t, "bindings.yaml", "nets: {rest: {transitions: {t: {delay: 1h}}}}\n")
	for name, of := range map[string]struct {
		args []string
		most float64 // a second
	}{
		"an engine": {[]string{"engine", net, "--bindings", bindings}, 6},
		"a sidecar": {[]string{"serve", "--web.listen-address", "127.0.0.1:0"}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := kit.Start(t, program, append(of.args, "--nats", kit.StartNATS(t))...)
			time.Sleep(interval)
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
