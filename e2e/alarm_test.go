// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/snmp/snmptest"
)

// activeAlarm is one of GET /api/v1/alarms.
type activeAlarm struct {
	Index                                  uint32
	Alarm, Severity                        string
	Net, Place, Transition, Source, Region string
	Raised, Since, Text                    string
}

// time is one of the alarm's times.
func (a activeAlarm) time(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// alarms are what the page shows.
func (w web) alarms(t *testing.T) []activeAlarm {
	t.Helper()
	var doc struct{ Active []activeAlarm }
	if err := json.Unmarshal(w.page(t, "/api/v1/alarms"), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Active
}

// series are the labels that petrinet_alarm_active has for an alarm.
func (a activeAlarm) series() map[string]string {
	return map[string]string{"net": a.Net, "place": a.Place, "transition": a.Transition, "source": a.Source, "region": a.Region, "alarm": a.Alarm, "severity": a.Severity}
}

// facesAgree waits until the page, the metrics and alarmTable show the same so
// many alarms, and returns them.
func facesAgree(t *testing.T, side *sidecar, want int) []activeAlarm {
	t.Helper()
	var shown []activeAlarm
	until(t, fmt.Sprintf("every face shows %d alarms", want), func() error {
		shown = side.alarms(t)
		metrics := side.scrape(t).all("petrinet_alarm_active")
		rows := walk(t, snmptest.Client{Addr: side.snmp})
		nets, subjects := rows.column(9, alarmNet), rows.column(9, alarmSubject)
		if len(shown) != want || len(metrics) != want || len(nets) != want {
			return fmt.Errorf("%d at the page, %d metrics, %d rows", len(shown), len(metrics), len(nets))
		}
		for _, a := range shown {
			if !slices.ContainsFunc(metrics, func(s series) bool { return s.value == 1 && maps.Equal(s.labels, a.series()) }) {
				return fmt.Errorf("%+v is no series", a)
			}
			index := fmt.Sprint(a.Index)
			if nets[index].Str != a.Net || subjects[index].Str != a.Place+a.Transition+a.Source {
				return fmt.Errorf("%+v is no row", a)
			}
		}
		return nil
	})
	return shown
}

// raised is how many alarms the sidecar has raised since its start.
func raised(s scrape) (sum float64) {
	for _, one := range s.all("pnagent_alarms_raised_total") {
		sum += one.value
	}
	return sum
}

func TestARestartedSidecarRaisesNothingAgainAndClearsWhatIsOver(t *testing.T) {
	t.Parallel()
	snmptest.RequireTools(t)
	natsURL, dir := startNATS(t), t.TempDir()
	rules := write(t, "alarms.yaml", strings.Replace(impatient, "settle: 0s", "settle: 2s", 1))
	start := func() *sidecar {
		return serve(t, natsURL, "--mib-dir", dir, "--alarms", rules, "--snmp", "127.0.0.1:0")
	}
	side := start()
	runEngine(t, natsURL, "berlin", "--bindings", write(t, "bindings.yaml", stuckBindings), write(t, "claims.pnml", stuckNet))
	until(t, "all 40 tokens are stuck", func() error {
		if a := side.alarms(t); len(a) != 1 || !strings.Contains(a[0].Text, ": 40,") {
			return fmt.Errorf("%+v", a)
		}
		return nil
	})
	first := facesAgree(t, side, 1)
	if a := first[0]; a.Alarm != "tokenStuck" || a.Net != "claims" || a.Place != "awaiting answer" || a.Text == "" || a.Index == 0 {
		t.Errorf("got %+v; want tokenStuck of claims at awaiting answer", a)
	}
	for _, end := range []func(){
		func() { side.stop(t, syscall.SIGTERM) },
		func() { side.kill(t) },
	} {
		end()
		side = start()
		if diff := cmp.Diff(first, side.alarms(t)); diff != "" {
			t.Errorf("alarms after the restart, -before +after:\n%s", diff)
		}
		// Longer than it takes to settle, and to find tokens stuck.
		until(t, "the sidecar has seen the engine for a while", func() error {
			if v := side.view(t); v.source("claims", "berlin") != "up" || v.Generation < 5 {
				return fmt.Errorf("view %d", v.Generation)
			}
			return nil
		})
		if diff := cmp.Diff(first, facesAgree(t, side, 1)); diff != "" || raised(side.scrape(t)) != 0 {
			t.Errorf("after a while %v were raised: %s", raised(side.scrape(t)), diff)
		}
	}
	// The tokens move while there is no sidecar.
	side.kill(t)
	nc := connect(t, natsURL)
	for range 40 {
		request(t, nc, "fire", "claims", "berlin", `{"instance":0,"transition":"answer"}`)
	}
	side = start()
	facesAgree(t, side, 0)
	if n, _ := side.scrape(t).value("pnagent_alarms_cleared_total", "alarm", "tokenStuck"); n != 1 || raised(side.scrape(t)) != 0 {
		t.Errorf("got %v cleared and %v raised; want 1 and 0", n, raised(side.scrape(t)))
	}
	request(t, nc, "inject", "claims", "berlin", `{"instance":0,"place":"inbox","tokens":1}`)
	if next := facesAgree(t, side, 1)[0]; next.Index != first[0].Index+1 {
		t.Errorf("the next alarm is number %d, after %d", next.Index, first[0].Index)
	}
	// What is left of the file after a crash of the machine.
	side.kill(t)
	path := filepath.Join(dir, "alarms.state")
	if text, err := os.ReadFile(path); err != nil || os.WriteFile(path, text[:len(text)/2], 0o600) != nil {
		t.Fatal(err)
	}
	side = start()
	side.says(t, "starting without earlier alarms.*alarms.state")
	if again := facesAgree(t, side, 1)[0]; again.Index <= first[0].Index+1 {
		t.Errorf("with a damaged file the number %d is given", again.Index)
	}
}

// manyNet has 1,000 places with a token each, which one transition takes all
// at once.
func manyNet() string {
	var b strings.Builder
	b.WriteString(`<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id="many" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="page">` +
		`<transition id="go"/><place id="paid"/><arc id="end" source="go" target="paid"/>`)
	for i := range 1000 {
		fmt.Fprintf(&b, `<place id="p%d"><initialMarking><text>1</text></initialMarking></place><arc id="a%d" source="p%d" target="go"/>`, i, i, i)
	}
	b.WriteString(`</page></net></pnml>`)
	return b.String()
}

func TestAThousandPlacesStuckAtOnceAreOneBurstThroughSnmpd(t *testing.T) {
	t.Parallel()
	const suppressed, burst = oidRoot + ".1.0.9", 50
	sink := snmptest.StartTrapd(t)
	snmpd := snmptest.Start(t, snmptest.Config{Lines: []string{"trap2sink " + sink.Addr + " public"}})
	natsURL := startNATS(t)
	side := serve(t, natsURL, "--agentx", snmpd.AgentX, "--alarms", write(t, "alarms.yaml", impatient))
	runEngine(t, natsURL, "berlin", "--bindings", write(t, "b.yaml", "nets: {many: {transitions: {go: manual}}}"), write(t, "many.pnml", manyNet()))

	// count returns the number of each notification of the sink, once it has the last one,
	// which counts the suppressed ones.
	count := func(words, moving int) map[string]int {
		var by map[string]int
		until(t, fmt.Sprintf("%d words of what was suppressed, and %d clears", words, moving), func() error {
			by = map[string]int{}
			for _, n := range sink.Wait(t, 1) {
				by[noticeOf(n).notification]++
			}
			if by[suppressed] < words || by[tokenMoving] < moving {
				return fmt.Errorf("%v", by)
			}
			return nil
		})
		maps.DeleteFunc(by, func(name string, _ int) bool { return !strings.HasPrefix(name, oidRoot) })
		return by
	}
	rows := func(want int) {
		t.Helper()
		until(t, fmt.Sprintf("pnAlarmTable has %d rows", want), func() error {
			if n := len(walkColumn(t, snmpd.Client, 9, alarmSubject)); n != want {
				return fmt.Errorf("%d", n)
			}
			return nil
		})
	}
	rows(1000)
	raised := time.Now() // at the latest
	if diff := cmp.Diff(map[string]int{tokenStuck: burst, suppressed: 1}, count(1, 0)); diff != "" {
		t.Error(diff)
	}
	if n, _ := side.scrape(t).value("pnagent_notifications_suppressed_total"); n != 1000-burst {
		t.Errorf("got %v suppressed; want %d", n, 1000-burst)
	}
	until(t, "the bucket is full again", func() error {
		if time.Since(raised) < 6*time.Second {
			return errors.New("not yet")
		}
		return nil
	})
	request(t, connect(t, natsURL), "fire", "many", "berlin", `{"instance":0,"transition":"go"}`)
	rows(0)
	if diff := cmp.Diff(map[string]int{tokenStuck: burst, tokenMoving: burst, suppressed: 2}, count(2, burst)); diff != "" {
		t.Error(diff)
	}
	// Each is counted when snmpd answers, which is after the sink has it.
	var sent, failed float64
	until(t, "all notifications are counted", func() error {
		s := side.scrape(t)
		sent, _ = s.value("pnagent_notifications_sent_total", "sink", "agentx")
		failed = 0
		for _, one := range s.all("pnagent_notifications_failed_total") { // by reason
			failed += one.value
		}
		if sent+failed < 2*burst+2 {
			return fmt.Errorf("%v and %v so far", sent, failed)
		}
		return nil
	})
	if sent != 2*burst+2 || failed != 0 {
		t.Errorf("%v notifications were sent through snmpd, %v failed", sent, failed)
	}
}

func TestFaultsInTheRulesForAlarmsAreAnsweredWithTheirPlace(t *testing.T) {
	t.Parallel()
	rules := write(t, "alarms.yaml", "defaults:\n  stuck: {after: soon}\n")
	config := write(t, "pnagent.yaml", "alarms: "+rules+"\nsnmp.trap-sink: [127.0.0.1:162, '[::1]:162']\nsnmp.inform: true\nalarm-state: a.state\n")
	for _, args := range [][]string{{"check-config", config}, {"serve", "--config", config}, {"serve", "--alarms", rules}} {
		wantFailure(t, pnagent(t, args...), 1, `alarms\.yaml:2:18: found "soon"; expected a duration`)
	}
	good := write(t, "good.yaml", "alarms: "+write(t, "alarms.yaml", impatient)+"\nsnmp.trap-sink: [127.0.0.1:162, '[::1]:162']\nsnmp.inform: true\n")
	if r := pnagent(t, "check-config", good); r.code != 0 {
		t.Errorf("check-config: got %+v; want exit code 0", r)
	}
	wantFailure(t, pnagent(t, "serve", "--nats", startNATS(t), "--mib-dir", "", "--snmp.trap-sink", "nowhere"), 2, `sink "nowhere": expected host:port`)
}

func TestDemoRaisesAnAlarmWhileOneLooks(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	until(t, "tokens are stuck", func() error {
		for _, a := range d.alarms(t) {
			if a.Alarm == "tokenStuck" && a.Place != "" {
				return nil
			}
		}
		return errors.New("none yet")
	})
	d.stop(t, syscall.SIGINT)
}
