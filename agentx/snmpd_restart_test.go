// SPDX-License-Identifier: Apache-2.0

package agentx_test

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pnagent/pnagent/agentx"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// restarts is how often a snmpd is restarted: PNAGENT_TEST_RESTARTS, or 2, once
// killed and once stopped. With it set, the time until a master is served again is
// checked as well; without, the machine may be too busy for that.
func restarts(tb testing.TB) (n int, timed bool) {
	tb.Helper()
	text, timed := os.LookupEnv("PNAGENT_TEST_RESTARTS")
	if !timed {
		return 2, false
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		tb.Fatalf("PNAGENT_TEST_RESTARTS: %v", err)
	}
	return n, true
}

// openFiles is how many files this process has open; 0 where that cannot be known.
func openFiles() int {
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(files)
}

// numbered is everything with the n-th values at the n-th call.
func numbered(tb testing.TB) (tables func() *smi.Table, nth func(int64) []smi.Variable) {
	var n atomic.Int32
	layout := everything(tb, 1).Layout()
	table := func(n int32) *smi.Table {
		values := make([]smi.Value, layout.Len())
		for i := range values {
			values[i] = smi.Integer(n)
		}
		return smi.NewTable(layout, values)
	}
	return func() *smi.Table { return table(n.Add(1)) }, func(n int64) []smi.Variable { return list(table(int32(n))) }
}

// A walk that a restart of snmpd comes into sees the beginning of one table
// and, if it continues, what follows in a later one, or ends early. No name
// comes twice, and none that is not there.
func checkTorn(walked []smi.Variable, nth func(int64) []smi.Variable) (saw string, err error) {
	walked = exists(walked)
	if len(walked) == 0 {
		return "nothing", nil
	}
	first, last := walked[0].Value.Int(), walked[len(walked)-1].Value.Int()
	turn := 0
	for turn < len(walked) && walked[turn].Value.Int() == first {
		turn++
	}
	want := append(nth(first)[:turn:turn], nth(last)[turn:len(walked)]...)
	if diff := differ(want, walked); diff != "" {
		return "", fmt.Errorf("not the beginning of one table and what follows in another: %s", diff)
	}
	switch {
	case len(walked) < len(nth(1)):
		return "the beginning", nil
	case turn < len(walked):
		return "the beginning of one View and the rest of a later one", nil
	}
	return "one View", nil
}

func TestSnmpdRestartedBeforeWithinAndAfterAWalk(t *testing.T) {
	n, timed := restarts(t)
	overBoth(t, func(t *testing.T, snmpd *snmptest.Snmpd) {
		tables, nth := numbered(t)
		subagent := serve(t, agentx.Config{Addr: snmpd.AgentX, Tables: tables})
		up(t, subagent)
		files, goroutines := openFiles(), runtime.NumGoroutine()
		var slowest time.Duration
		for i := range n {
			end := []func(){snmpd.Kill, snmpd.Stop}[i%2]
			torn := make(chan string, 1)
			before := subagent.Stats().Variables
			go func() {
				// A station waits, asks again and continues.
				out, err := snmpd.Run(t.Context(), "snmpwalk", []string{"-t", "1", "-r", "20"}, playpen.String())
				if err != nil {
					torn <- "an error: " + err.Error()
					return
				}
				walked, err := snmptest.Parse(strings.NewReader(out))
				if err != nil {
					t.Error(err)
				}
				saw, err := checkTorn(walked, nth)
				if err != nil {
					t.Error(err)
				}
				torn <- saw
			}()
			until(t, "the walk is under way", func() bool { return subagent.Stats().Variables > before+100 })
			end()
			until(t, "down", func() bool { return subagent.Stats().State != agentx.StateUp })
			snmpd.Start(t)
			returned := time.Now()
			up(t, subagent)
			slowest = max(slowest, time.Since(returned))
			t.Logf("restart %d: served %v after it answered; the walk under way saw %s", i+1, time.Since(returned).Round(time.Millisecond), <-torn)
			walked := snmpd.BulkWalk(t, 50, playpen)
			if saw, err := checkTorn(walked, nth); err != nil || saw != "one View" {
				t.Fatalf("the walk after it saw %s, %v", saw, err)
			}
			if got := subagent.Stats().Sessions; got != uint64(i+2) {
				t.Fatalf("%d sessions after %d restarts", got, i+1)
			}
		}
		if timed && slowest > 2*time.Second {
			t.Errorf("served again only after %v", slowest)
		}
		until(t, "nothing is left behind", func() bool {
			return openFiles() <= files && runtime.NumGoroutine() <= goroutines
		})
	})
}

// A snmpd that hangs leaves the session as it is until a Ping is not answered;
// before that it continues where it was.
func TestSnmpdThatHangsBrieflyKeepsTheSession(t *testing.T) {
	snmpd := snmptest.Start(t, snmptest.Config{})
	table := everything(t, 5)
	subagent := serve(t, agentx.Config{Addr: snmpd.AgentX, Tables: func() *smi.Table { return table }})
	up(t, subagent)
	for range 3 {
		snmpd.Pause(t)
		if out, err := snmpd.Run(t.Context(), "snmpget", []string{"-t", "0.1", "-r", "0"}, table.At(0).Name.String()); err == nil {
			t.Fatalf("a snmpd that is paused answers %s", out)
		}
		snmpd.Resume(t)
		if diff := differ(list(table), snmpd.BulkWalk(t, 50, playpen)); diff != "" {
			t.Fatal(diff)
		}
	}
	if s := subagent.Stats(); s.Sessions > 1 {
		t.Fatalf("got %+v; want at most one session", s)
	}
}

// A snmpd that hangs for longer than a Ping is waited for has its session ended
// and opened again, and nothing of the old one stays.
func TestSnmpdThatHangsForLongIsOpenedAgain(t *testing.T) {
	if _, timed := restarts(t); !timed {
		t.Skip("takes half a minute: set PNAGENT_TEST_RESTARTS")
	}
	overBoth(t, func(t *testing.T, snmpd *snmptest.Snmpd) {
		table := everything(t, 5)
		subagent := serve(t, agentx.Config{Addr: snmpd.AgentX, Tables: func() *smi.Table { return table }})
		up(t, subagent)
		snmpd.Pause(t)
		until(t, "given up", func() bool { return subagent.Stats().State != agentx.StateUp })
		snmpd.Resume(t)
		resumed := time.Now()
		up(t, subagent)
		took := time.Since(resumed)
		t.Logf("registered again after %v", took)
		if diff := differ(list(table), snmpd.BulkWalk(t, 50, playpen)); diff != "" {
			t.Fatal(diff)
		}
		if took > 2*time.Second {
			t.Errorf("served again only after %v", took)
		}
	})
}

//promise:faces stop
func TestAWalkContinuesWithTheStandby(t *testing.T) {
	walk := func(tool string, options ...string) func(*testing.T, *snmptest.Snmpd) (string, error) {
		return func(t *testing.T, snmpd *snmptest.Snmpd) (string, error) {
			return snmpd.Run(t.Context(), tool, options, playpen.String())
		}
	}
	for _, c := range []struct {
		name    string
		config  snmptest.Config
		walkers int
		walk    func(*testing.T, *snmptest.Snmpd) (string, error)
	}{
		{"GETNEXT", snmptest.Config{}, 1, walk("snmpwalk")},
		{"GETNEXT over TCP", snmptest.Config{TCP: true}, 1, walk("snmpwalk")},
		{"GETBULK of 10", snmptest.Config{}, 1, walk("snmpbulkwalk", "-Cr10")},
		{"GETBULK of 3", snmptest.Config{}, 1, walk("snmpbulkwalk", "-Cr3")},
		{"three at a time", snmptest.Config{}, 3, walk("snmpwalk")},
	} {
		t.Run(c.name, func(t *testing.T) { walkWithStandby(t, c.config, c.walkers, c.walk) })
	}
}

// walkWithStandby has walkers walk while the one that answers them ends.
func walkWithStandby(t *testing.T, config snmptest.Config, walkers int, walk func(*testing.T, *snmptest.Snmpd) (string, error)) {
	n, _ := restarts(t)
	snmpd := snmptest.Start(t, config)
	_, nth := numbered(t)
	run := func(priority uint8, number int32) (*agentx.Subagent, func()) {
		variables := nth(int64(number))
		layout := everything(t, 1).Layout()
		values := make([]smi.Value, len(variables))
		for i, v := range variables {
			values[i] = v.Value
		}
		table := smi.NewTable(layout, values)
		subagent, stop := serveUntil(t, agentx.Config{Addr: snmpd.AgentX, Priority: priority, Tables: func() *smi.Table { return table }})
		up(t, subagent)
		return subagent, stop
	}
	run(127, 2)
	within := 0
	for i := 0; i < n || within == 0 && i < 10*n; i++ { // a fast walk may be over before the subagent stops
		primary, stop := run(100, 1)
		before := primary.Stats().Variables
		torn := make(chan string, walkers)
		for range walkers {
			go func() {
				out, failed := walk(t, snmpd)
				walked, err := snmptest.Parse(strings.NewReader(out))
				if err != nil {
					t.Error(err)
				}
				saw, err := checkTorn(walked, nth)
				if err != nil {
					t.Error(err)
				}
				if failed != nil {
					saw += ", and then " + failed.Error()
				}
				torn <- saw
			}()
		}
		until(t, "the walk is under way", func() bool { return primary.Stats().Variables > before+50 })
		stop()
		for range walkers {
			switch saw := <-torn; saw {
			case "one View": // it was at its end before, or had not begun
			case "the beginning of one View and the rest of a later one":
				within++
			default:
				t.Errorf("the walk saw %s", saw)
			}
		}
	}
	t.Logf("%d walks saw the change", within)
	if within == 0 {
		t.Error("none was under way")
	}
}
