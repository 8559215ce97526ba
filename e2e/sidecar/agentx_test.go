// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// Whatever happens to snmpd or to a sidecar, a station is answered again, and
// nothing is left behind.

// station is a snmpd, and what a station is to see through it.
type station struct {
	*snmptest.Snmpd
	natsURL string
	names   map[string]bool // of a walk
}

// sidecar runs one that is registered with the snmpd at a priority.
func (s *station) sidecar(t *testing.T, priority int) *kit.Sidecar {
	t.Helper()
	side := kit.Serve(t, s.natsURL, "--agentx", s.AgentX, "--agentx.priority", strconv.Itoa(priority), "--mib-dir", "", kit.TheNet(t))
	side.Registered(t)
	return side
}

// sees checks that one request of the station is answered with a variable of ours.
func (s *station) sees(t *testing.T) error {
	t.Helper()
	out, err := s.Run(t.Context(), "snmpgetnext", []string{"-t", "1", "-r", "0"}, kit.OIDRoot)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(out, "."+kit.OIDRoot+".") {
		return fmt.Errorf("there is nothing of ours: %.200s", out)
	}
	return nil
}

// walks checks that the station sees everything, and who answered it.
func (s *station) walks(t *testing.T, answers *kit.Sidecar, others ...*kit.Sidecar) {
	t.Helper()
	mine := askedBy(t, answers)
	var theirs []float64
	for _, o := range others {
		theirs = append(theirs, askedBy(t, o))
	}
	names := map[string]bool{}
	for name := range kit.Walk(t, s.Client) {
		names[name] = true
	}
	if s.names == nil {
		s.names = names
	}
	if diff := cmp.Diff(s.names, names); diff != "" || len(names) < 100 {
		t.Fatalf("-first walk +this one\n%s", diff)
	}
	if askedBy(t, answers) < mine+float64(len(names)) {
		t.Fatal("got fewer requests than the walk has names; want all of them at this sidecar")
	}
	for i, o := range others {
		if askedBy(t, o) != theirs[i] {
			t.Fatal("the standby is asked as well")
		}
	}
}

// openFiles is how many files a process has open.
func openFiles(t *testing.T, pid int) int {
	t.Helper()
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Skipf("open files cannot be counted: %v", err)
	}
	return len(files)
}

func startStation(t *testing.T, config snmptest.Config) *station {
	t.Helper()
	return &station{Snmpd: snmptest.Start(t, config), natsURL: kit.StartNATS(t)}
}

func TestTheStandbyAnswersUntilThePrimaryIsBack(t *testing.T) {
	t.Parallel()
	s := startStation(t, snmptest.Config{})
	standby, primary := s.sidecar(t, 127), s.sidecar(t, 100)
	s.walks(t, primary, standby)
	files := openFiles(t, s.Pid())
	for _, end := range []struct {
		how string
		by  func(*testing.T)
	}{
		{"stopped", func(t *testing.T) { primary.Stop(t, syscall.SIGTERM) }},
		{"killed", func(t *testing.T) { primary.Kill(t) }},
	} {
		end.by(t)
		if err := s.sees(t); err != nil {
			t.Fatalf("the first request after the primary was %s: %v", end.how, err)
		}
		s.walks(t, standby)
		primary = s.sidecar(t, 100)
		if err := s.sees(t); err != nil {
			t.Fatalf("the first request after the primary came back: %v", err)
		}
		s.walks(t, primary, standby)
	}

	// One that hangs is found out when a request has timed out. snmpd ends its
	// session, and from then on the standby answers.
	primary.Pause(t)
	hung := time.Now()
	kit.Until(t, "the standby answers for one that hangs", func() error { return s.sees(t) })
	t.Logf("a primary that hangs is replaced %v after it was", time.Since(hung).Round(time.Millisecond))
	s.walks(t, standby)
	primary.Resume(t)
	resumed := time.Now()
	kit.Until(t, "the session that hung is opened again", func() error {
		if n, _ := primary.Scrape(t).Value("pnagent_agentx_sessions_total"); n != 2 {
			return fmt.Errorf("%v sessions", n)
		}
		return nil
	})
	t.Logf("one that goes on is registered again after %v", time.Since(resumed).Round(time.Millisecond))
	s.walks(t, primary, standby)
	kit.Until(t, "snmpd has no session too many", func() error {
		if n := openFiles(t, s.Pid()); n != files {
			return fmt.Errorf("%d files, %d before", n, files)
		}
		return nil
	})
}

func TestASingleSidecarThatWasHungIsServedAgain(t *testing.T) {
	t.Parallel()
	s := startStation(t, snmptest.Config{TCP: true})
	side := s.sidecar(t, 127)
	s.walks(t, side)
	files, masters := openFiles(t, side.Cmd.Process.Pid), openFiles(t, s.Pid())
	for range 2 {
		side.Pause(t)
		// A subagent that takes longer than snmpd waits logs that snmpd has given up.
		out, err := s.Run(t.Context(), "snmpget", []string{"-t", "10", "-r", "0"}, kit.OIDRoot+".1.1.1.1.0")
		if err == nil || !strings.Contains(err.Error(), "genError") {
			t.Fatalf("of a sidecar that hangs, a station sees %q, %v, want genErr", out, err)
		}
		if err := s.sees(t); err == nil || !strings.Contains(err.Error(), "nothing of ours") {
			t.Fatalf("after the time-out: %v, want nothing", err)
		}
		side.Resume(t)
		kit.Until(t, "it is served again", func() error { return s.sees(t) })
		side.Registered(t)
		s.walks(t, side)
	}
	kit.Until(t, "nothing is left open", func() error {
		if n, m := openFiles(t, side.Cmd.Process.Pid), openFiles(t, s.Pid()); n > files || m != masters {
			return fmt.Errorf("%d and %d files, %d and %d before", n, m, files, masters)
		}
		return nil
	})
}

func TestASnmpdThatIsRestartedOrHungUnderASidecarIsServedAgain(t *testing.T) {
	t.Parallel()
	rounds := 1
	if text := os.Getenv("PNAGENT_TEST_RESTARTS"); text != "" {
		var err error
		rounds, err = strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
	}
	s := startStation(t, snmptest.Config{TCP: true, Stopped: true})
	side := kit.Serve(t, s.natsURL, "--agentx", s.AgentX, "--mib-dir", "", kit.TheNet(t)) // before snmpd
	s.Start(t)
	side.Registered(t)
	s.walks(t, side)
	files := openFiles(t, side.Cmd.Process.Pid)
	for range rounds {
		for how, end := range map[string]func(){"stopped": s.Stop, "killed": s.Kill} {
			end()
			s.Start(t)
			returned := time.Now()
			kit.Until(t, "it is served again", func() error { return s.sees(t) })
			t.Logf("a snmpd that was %s is served %v after it returned", how, time.Since(returned).Round(time.Millisecond))
			side.Registered(t)
			s.walks(t, side)
		}
		s.Pause(t)
		if err := s.sees(t); err == nil {
			t.Fatal("a snmpd that hangs answers")
		}
		s.Resume(t)
		kit.Until(t, "one that hung is seen again", func() error { return s.sees(t) })
		s.walks(t, side)
	}
	kit.Until(t, "nothing is left open", func() error {
		if n := openFiles(t, side.Cmd.Process.Pid); n > files {
			return fmt.Errorf("%d files, %d before", n, files)
		}
		return nil
	})
}

// askedBy is how many requests of the master the sidecar has answered.
func askedBy(t *testing.T, side *kit.Sidecar) (n float64) {
	t.Helper()
	for _, one := range side.Self(t).All("pnagent_agentx_requests_total") {
		n += one.Value
	}
	return n
}
