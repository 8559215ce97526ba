// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sqldb

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/sidecar"
	"github.com/pnagent/pnagent/snmp/snmptest"
	"github.com/pnagent/pnagent/web/api"
)

// missedRules expect of the scheduler office what its triggers say, and of solo a firing every two seconds.
const missedRules = `
settle: 1s
defaults: {stuck: off, starved: off, expect: {grace: 3s}}
overrides: [{net: solo, transition: "*", expect: {every: 2s, grace: 3s}}]
`

// ticking are two schedulers of Quartz with a trigger each that fires every two seconds, an adapter and a
// sidecar, which sends traps to snmptrapd.
type ticking struct {
	t    *testing.T
	s    *server
	e    *engine
	side *sidecar.Sidecar
	sink *snmptest.Snmptrapd
	seen int // traps
}

// TestFiringsThatQuartzMissedAreReported stops schedulers, and pauses a trigger.
func TestFiringsThatQuartzMissedAreReported(t *testing.T) {
	t.Parallel()
	s, w := newPostgres(t), newWatch(t)
	q := &ticking{t: t, s: s, e: newEngine(t, "quartz", s.driver, "none", "quartz.version=2.5.2"), sink: snmptest.StartTrapd(t)}
	for _, command := range []string{"standby office true", "standby solo false", "schedule office clock.tick clock.tick Mail 0 2", "schedule solo clock.tick clock.tick Mail 0 2"} {
		q.e.Do(command)
	}
	q.run()
	q.ticks()
	w.run(newConfig(t, s.address, "quartz"))
	q.sidecar(w.url)
	q.fires()

	q.e.Do("kill a")
	q.e.Do("kill b")
	stopped := time.Now()
	q.missed("office", "solo")
	t.Logf("two schedulers were killed: reported after %v", time.Since(stopped).Round(100*time.Millisecond))
	until(t, func() string { // the rule knows how many are missing
		for _, a := range q.alarms() {
			if a.Net == "solo" && *a.Affected >= 3 && strings.HasSuffix(a.Text, fmt.Sprintf("missed: %d", *a.Affected)) && a.LastFired != 0 {
				return ""
			}
		}
		return fmt.Sprintf("alarms %+v; expected 3 firings of solo or more", q.alarms())
	})
	q.run()
	q.over("office", "solo")

	q.e.Do("pause office clock.tick")
	stopped = time.Now()
	q.missed("office")
	t.Logf("a trigger was paused: reported after %v", time.Since(stopped).Round(100*time.Millisecond))
	q.e.Do("at a resume office clock.tick") // in the process that fires it, which would else look after half a minute
	q.over("office")
}

// run starts the processes that run jobs.
func (q *ticking) run() {
	q.e.Do("node office a true 1")
	q.e.Do("node solo b false 1")
}

// ticks waits until the tables say that no firing is late: a scheduler that starts fires what it missed before.
func (q *ticking) ticks() {
	q.t.Helper()
	until(q.t, func() string {
		var ahead int
		err := q.s.open("pgx", q.s.address).QueryRow("SELECT count(*) FROM qrtz_triggers WHERE next_fire_time > $1 AND prev_fire_time > $2",
			time.Now().UnixMilli(), time.Now().Add(-2*time.Second).UnixMilli()).Scan(&ahead)
		if err != nil {
			q.t.Fatal(err)
		}
		if ahead != 2 {
			return fmt.Sprintf("%d triggers fire on time; expected 2", ahead)
		}
		return ""
	})
}

func (q *ticking) sidecar(url string) {
	q.t.Helper()
	q.side = newSidecar(q.t, url, missedRules, q.sink)
}

// client returns what asks the sidecar.
func (q *ticking) client() api.Client {
	return api.Client{URL: "http://" + q.side.WebAddress(), HTTP: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
}

func (q *ticking) alarms() []api.Alarm {
	q.t.Helper()
	alarms, err := api.Get[api.Alarms](q.t.Context(), q.client(), "alarms", nil)
	if err != nil {
		q.t.Fatal(err)
	}
	return alarms.Active
}

// fires waits until both schedulers have fired, and the times of their triggers are shown.
func (q *ticking) fires() {
	q.t.Helper()
	until(q.t, func() string {
		view, err := api.Get[api.View](q.t.Context(), q.client(), "view", nil)
		if err != nil {
			q.t.Fatal(err)
		}
		shown := 0
		for _, n := range view.Nets {
			for _, tr := range n.Transitions {
				if tr.ID == mail && tr.LastFiring != 0 && tr.NextDue > tr.LastFiring {
					shown++
				}
			}
		}
		if shown != 2 {
			return fmt.Sprintf("%d schedulers have fired; expected 2", shown)
		}
		return ""
	})
}

// traps waits for the next traps, of which there are as many as schedulers, and returns their texts by kind and net.
func (q *ticking) traps(name string, nets ...string) map[string]string {
	q.t.Helper()
	got := q.sink.Wait(q.t, q.seen+len(nets))[q.seen:]
	q.seen += len(got)
	texts := map[string]string{}
	for _, n := range got {
		kind, net, text := fmt.Sprint(n.Variables[1].Value), n.Variables[3].Value.Str, n.Variables[8].Value.Str
		if !strings.HasSuffix(kind, "."+name) {
			q.t.Errorf("a trap %s of net %s: %s; expected %s", kind, net, text, name)
		}
		texts[net] = text
	}
	return texts
}

// missed waits for the traps that firings are missing, with the times that the tables have.
func (q *ticking) missed(nets ...string) {
	q.t.Helper()
	texts := q.traps("22", nets...)
	for _, net := range nets {
		var next, last int64
		err := q.s.open("pgx", q.s.address).QueryRow("SELECT next_fire_time, prev_fire_time FROM qrtz_triggers WHERE sched_name = $1", net).Scan(&next, &last)
		if err != nil {
			q.t.Fatal(err)
		}
		date := func(millis int64) string { return time.UnixMilli(millis).UTC().Format(time.RFC3339) }
		want := fmt.Sprintf("transition %q of net %q was due at %s and that firing is missing; the last one was at %s; missed: 1", mail, net, date(next), date(last))
		if texts[net] != want {
			q.t.Errorf("the trap about %s: %q\nwant %q", net, texts[net], want)
		}
	}
}

// over waits for the traps that firings were seen again.
func (q *ticking) over(nets ...string) {
	q.t.Helper()
	texts := q.traps("23", nets...)
	for _, net := range nets {
		if !strings.Contains(texts[net], fmt.Sprintf("transition %q of net %q fired at ", mail, net)) {
			q.t.Errorf("the trap about %s: %q; expected that it fired", net, texts[net])
		}
	}
}
