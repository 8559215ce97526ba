// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/snmp/snmptest"
	"github.com/pnagent/pnagent/web/api"
)

// departures are how many tokens have left, by place.
func departures(s kit.Scrape) map[kit.Key]float64 {
	return kit.ByPlace(s, "petrinet_place_departures_total")
}

func TestDemoShowsAStuckPlaceGrowOlderByOneASecond(t *testing.T) {
	t.Parallel()
	d := kit.StartDemo(t)
	var first, second kit.Scrape
	kit.Until(t, "a token is older than every source's last word", func() error {
		first = d.Scrape(t)
		for _, age := range kit.Ages(first) {
			if age > 3 {
				return nil
			}
		}
		return errors.New("none is")
	})
	kit.Until(t, "five seconds went by", func() error {
		second = d.Scrape(t)
		if second.Begun.Sub(first.Got) < 5*time.Second {
			return errors.New("not yet")
		}
		return nil
	})
	least, most := second.Begun.Sub(first.Got).Seconds(), second.Got.Sub(first.Begun).Seconds()
	later, left, stuck := kit.Ages(second), departures(first), 0
	for place, n := range departures(second) {
		age := kit.Ages(first)[place]
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
	d.Stop(t, syscall.SIGINT)
}

func TestDemoEndsByItselfWhenItsTimeIsUp(t *testing.T) {
	t.Parallel()
	if code := kit.StartDemo(t, "--for", "3s").Wait(t); code != 0 {
		t.Errorf("got exit code %d; want 0", code)
	}
}

func TestDemoEndsCleanlyWhenInterrupted(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		d := kit.StartDemo(t)
		kit.Until(t, "engines are received", func() error {
			if len(d.View(t).Sources) < 2 {
				return errors.New("none yet")
			}
			return nil
		})
		d.Stop(t, s)
		if _, _, err := d.Get("/-/healthy"); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("after %s: got %v of the web server", s, err)
		}
	}
}

// The walk is of one view of the sidecar, and says of which. Pages of the same
// view are looked for around it: the demo moves all the time.
func TestDemoShowsTheSameNumbersToSNMPPrometheusAndTheView(t *testing.T) {
	t.Parallel()
	snmptest.RequireTools(t)
	d := kit.StartDemo(t)
	kit.Until(t, "all faces show one view", func() error {
		pages, generation := d.Pages(t, d.Agent)
		if pages.SNMP == nil {
			return fmt.Errorf("no two pages and a walk of one view; last %d", generation)
		}
		fired := uint64(0)
		for _, n := range pages.View.Numbers().Firings {
			fired += n
		}
		if fired < 100 {
			return fmt.Errorf("%d firings so far", fired)
		}
		want := pages.View.Numbers()
		if diff := cmp.Diff(want, pages.Scrape.Numbers()); diff != "" {
			t.Fatalf("-view +metrics\n%s", diff)
		}
		if diff := cmp.Diff(want, pages.SNMP.Numbers()); diff != "" {
			t.Fatalf("-view +snmp\n%s", diff)
		}
		pages.CompareSince(t)
		return nil
	})
	d.Stop(t, syscall.SIGINT)
}

// Instances of the BPMN process begin and end, and with --web.actions a user can acknowledge
// alarms.
func TestDemoShowsAProcessAndTakesAcknowledgements(t *testing.T) {
	t.Parallel()
	d := kit.StartDemo(t, "--web.actions")
	kit.Until(t, "claims finish, and others begin after them", func() error {
		s := d.Scrape(t)
		finished, _ := s.Value("petrinet_instances_finished_total", "net", "claim")
		begun, _ := s.Value("petrinet_instances_created_total", "net", "claim")
		if finished == 0 || begun <= 100 {
			return fmt.Errorf("%v finished, %v created", finished, begun)
		}
		return nil
	})
	var active []api.Alarm
	kit.Until(t, "an alarm is raised", func() error {
		active = d.Alarms(t)
		if len(active) == 0 {
			return errors.New("none yet")
		}
		return nil
	})
	index := strconv.Itoa(int(active[0].Index))
	kit.Matches(t, "an acknowledgement", d.AlarmsOf(t, "ack", index), 0, `^acknowledged: `+index+`\n$`)
	d.Stop(t, syscall.SIGINT)
}

func TestDemoReportsAPortInUse(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	r := kit.Pnagent(t, "demo", "--for", "20s", "--http", taken.Addr().String(), "--snmp", "127.0.0.1:0")
	kit.WantFailure(t, r, 1, "listening for HTTP.*address already in use")
}
