// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/snmp/snmptest"
)

// demo is "pnagent demo" that runs.
type demo struct {
	*process
	web
	agent snmptest.Client
}

func startDemo(t *testing.T, args ...string) *demo {
	t.Helper()
	args = append([]string{"demo", "--http", "127.0.0.1:0", "--snmp", "127.0.0.1:0"}, args...)
	d := &demo{process: start(t, built.pnagent, args...)}
	var at []string
	until(t, "the demo prints what to try", func() error {
		if at = submatch(d.out.String(), `curl -s (http://\S+)/metrics[^$]*snmpbulkwalk -v2c -c public (\S+) `); at == nil {
			return errors.New("not said yet")
		}
		return nil
	})
	d.url, d.agent = at[1], snmptest.Client{Addr: at[2]}
	return d
}

// ages are the ages of the oldest tokens, in seconds, by place.
func ages(s scrape) map[key]float64 { return byPlace(s, "petrinet_place_oldest_token_age_seconds") }

// departures are how many tokens have left, by place.
func departures(s scrape) map[key]float64 { return byPlace(s, "petrinet_place_departures_total") }

func byPlace(s scrape, family string) map[key]float64 {
	all := map[key]float64{}
	for _, one := range s.all(family) {
		all[key{one.labels["net"], one.labels["place"]}] = one.value
	}
	return all
}

func TestDemoShowsAStuckPlaceGrowOlderByOneASecond(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	var first, second scrape
	until(t, "a token is older than every source's last word", func() error {
		first = d.scrape(t)
		for _, age := range ages(first) {
			if age > 3 {
				return nil
			}
		}
		return errors.New("none is")
	})
	until(t, "five seconds went by", func() error {
		if second = d.scrape(t); second.begun.Sub(first.got) < 5*time.Second {
			return errors.New("not yet")
		}
		return nil
	})
	least, most := second.begun.Sub(first.got).Seconds(), second.got.Sub(first.begun).Seconds()
	later, left, stuck := ages(second), departures(first), 0
	for place, n := range departures(second) {
		age := ages(first)[place]
		if age < 3 || n > left[place] {
			continue
		}
		stuck++
		if rise := later[place] - age; rise < least || rise > most {
			t.Errorf("no token left %v, and the oldest grew older by %.3f s in %.3f to %.3f s", place, rise, least, most)
		}
	}
	if stuck == 0 {
		t.Error("no place is stuck")
	}
	d.stop(t, syscall.SIGINT)
}

func TestDemoEndsByItselfWhenItsTimeIsUp(t *testing.T) {
	t.Parallel()
	if code := startDemo(t, "--for", "10s").wait(t); code != 0 {
		t.Errorf("got exit code %d; want 0", code)
	}
}

func TestDemoEndsCleanlyWhenInterrupted(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		d := startDemo(t)
		until(t, "engines are received", func() error {
			if len(d.view(t).Sources) < 2 {
				return errors.New("none yet")
			}
			return nil
		})
		d.stop(t, s)
		if _, _, err := d.get("/-/healthy"); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("after %s: got %v of the web server", s, err)
		}
	}
}

// The walk is of one view of the sidecar, and says of which. Pages of the same
// view are looked for around it: the demo moves all the time.
func TestDemoShowsTheSameNumbersToSNMPPrometheusAndTheView(t *testing.T) {
	t.Parallel()
	snmptest.RequireTools(t)
	d := startDemo(t)
	until(t, "all faces show one view", func() error {
		pages, generation := d.pages(t, d.agent)
		if pages.snmp == nil {
			return fmt.Errorf("no two pages and a walk of one view; last %d", generation)
		}
		fired := uint64(0)
		for _, n := range pages.view.numbers().Firings {
			fired += n
		}
		if fired < 100 {
			return fmt.Errorf("%d firings so far", fired)
		}
		want := pages.view.numbers()
		if diff := cmp.Diff(want, pages.scrape.numbers()); diff != "" {
			t.Fatalf("-view +metrics\n%s", diff)
		}
		if diff := cmp.Diff(want, pages.snmp.numbers()); diff != "" {
			t.Fatalf("-view +snmp\n%s", diff)
		}
		pages.compareSince(t)
		return nil
	})
	d.stop(t, syscall.SIGINT)
}

// Instances of the BPMN process begin and end, and with --web.actions a user can acknowledge
// alarms.
func TestDemoShowsAProcessAndTakesAcknowledgements(t *testing.T) {
	t.Parallel()
	d := startDemo(t, "--web.actions")
	until(t, "claims finish, and others begin after them", func() error {
		s := d.scrape(t)
		finished, _ := s.value("petrinet_instances_finished_total", "net", "claim")
		begun, _ := s.value("petrinet_instances_created_total", "net", "claim")
		if finished == 0 || begun <= 100 {
			return fmt.Errorf("%v finished, %v created", finished, begun)
		}
		return nil
	})
	var active []noted
	until(t, "an alarm is raised", func() error {
		if active = d.noted(t); len(active) == 0 {
			return errors.New("none yet")
		}
		return nil
	})
	index := strconv.Itoa(int(active[0].Index))
	matches(t, "an acknowledgement", d.alarmsOf(t, "ack", index), 0, `^acknowledged: `+index+`\n$`)
	d.stop(t, syscall.SIGINT)
}

func TestDemoReportsAPortInUse(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	r := pnagent(t, "demo", "--for", "20s", "--http", taken.Addr().String(), "--snmp", "127.0.0.1:0")
	wantFailure(t, r, 1, "listening for HTTP.*address already in use")
}
