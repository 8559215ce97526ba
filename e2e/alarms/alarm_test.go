// SPDX-License-Identifier: Apache-2.0

package alarms

import (
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
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/snmp/snmptest"
	"github.com/pnagent/pnagent/web/api"
)

// facesAgree waits until the page, the metrics and alarmTable show the same so
// many alarms, and returns them.
func facesAgree(t *testing.T, side *kit.Sidecar, want int) []api.Alarm {
	t.Helper()
	var shown []api.Alarm
	kit.Until(t, fmt.Sprintf("every face shows %d alarms", want), func() error {
		shown = side.Alarms(t)
		metrics := side.Scrape(t).All("petrinet_alarm_active")
		rows := kit.Walk(t, snmptest.Client{Addr: side.SNMP})
		nets, subjects := rows.Column(9, kit.AlarmNet), rows.Column(9, kit.AlarmSubject)
		if len(shown) != want || len(metrics) != want || len(nets) != want {
			return fmt.Errorf("%d at the page, %d metrics, %d rows", len(shown), len(metrics), len(nets))
		}
		for _, a := range shown {
			if !slices.ContainsFunc(metrics, func(s kit.Series) bool { return s.Value == 1 && maps.Equal(s.Labels, seriesOf(a)) }) {
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
func raised(s kit.Scrape) (sum float64) {
	for _, one := range s.All("pnagent_alarms_raised_total") {
		sum += one.Value
	}
	return sum
}

//promise:clears stop
func TestARestartedSidecarRaisesNothingAgainAndClearsWhatIsOver(t *testing.T) {
	t.Parallel()
	snmptest.RequireTools(t)
	natsURL, dir := kit.StartNATS(t), t.TempDir()
	rules := kit.Write(t, "alarms.yaml", strings.Replace(kit.Impatient, "settle: 0s", "settle: 2s", 1))
	start := func() *kit.Sidecar {
		return kit.Serve(t, natsURL, "--mib-dir", dir, "--alarms", rules, "--snmp", "127.0.0.1:0")
	}
	side := start()
	kit.RunEngine(t, natsURL, "berlin", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", strings.Replace(kit.StuckNet, ">40<", ">1<", 1)))
	first := facesAgree(t, side, 1)
	if a := first[0]; a.Alarm != "tokenStuck" || a.Net != "claims" || a.Place != "awaiting answer" || a.Text == "" || a.Index == 0 {
		t.Errorf("got %+v; want tokenStuck of claims at awaiting answer", a)
	}
	grown := cmpopts.IgnoreFields(api.Alarm{}, "Age")
	unheard := cmpopts.IgnoreFields(api.Alarm{}, "Reason", "Instance", "Why", "NetName", "Name", "Outdated") // the engine reports them
	for _, end := range []func(){
		func() { side.Stop(t, syscall.SIGTERM) },
		func() { side.Kill(t) },
	} {
		end()
		side = start()
		if diff := cmp.Diff(first, side.Alarms(t), grown, unheard); diff != "" {
			t.Errorf("alarms after the restart, -before +after:\n%s", diff)
		}
		// Longer than it takes to settle, and to find tokens stuck.
		kit.Until(t, "the sidecar has seen the engine for a while", func() error {
			if v := side.View(t); v.Source("claims", "berlin") != "up" || v.Generation < 5 {
				return fmt.Errorf("view %d", v.Generation)
			}
			return nil
		})
		if diff := cmp.Diff(first, facesAgree(t, side, 1), grown); diff != "" || raised(side.Scrape(t)) != 0 {
			t.Errorf("after a while %v were raised: %s", raised(side.Scrape(t)), diff)
		}
	}
	// The tokens move while there is no sidecar.
	side.Kill(t)
	nc := kit.Connect(t, natsURL)
	kit.Request(t, nc, "fire", "claims", "berlin", `{"instance":0,"transition":"answer"}`)
	side = start()
	facesAgree(t, side, 0)
	if n, _ := side.Scrape(t).Value("pnagent_alarms_cleared_total", "alarm", "tokenStuck"); n != 1 || raised(side.Scrape(t)) != 0 {
		t.Errorf("got %v cleared and %v raised; want 1 and 0", n, raised(side.Scrape(t)))
	}
	kit.Request(t, nc, "inject", "claims", "berlin", `{"instance":0,"place":"inbox","tokens":1}`)
	if next := facesAgree(t, side, 1)[0]; next.Index != first[0].Index+1 {
		t.Errorf("the next alarm is number %d, after %d", next.Index, first[0].Index)
	}
	// What is left of the file after a crash of the machine.
	side.Kill(t)
	path := filepath.Join(dir, "alarms.state")
	if text, err := os.ReadFile(path); err != nil || os.WriteFile(path, text[:len(text)/2], 0o600) != nil {
		t.Fatal(err)
	}
	side = start()
	side.Says(t, "starting without earlier alarms.*alarms.state")
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
	const suppressed, burst = kit.OIDRoot + ".1.0.9", 50
	sink := snmptest.StartTrapd(t)
	snmpd := snmptest.Start(t, snmptest.Config{Lines: []string{"trap2sink " + sink.Addr + " public"}})
	natsURL := kit.StartNATS(t)
	side := kit.Serve(t, natsURL, "--agentx", snmpd.AgentX, "--alarms", kit.Write(t, "alarms.yaml", kit.Impatient))
	kit.RunEngine(t, natsURL, "berlin", "--bindings", kit.Write(t, "b.yaml", "nets: {many: {transitions: {go: manual}}}"), kit.Write(t, "many.pnml", manyNet()))

	// count returns the number of each notification of the sink, once it has the last one,
	// which counts the suppressed ones.
	count := func(words, moving int) map[string]int {
		var by map[string]int
		kit.Until(t, fmt.Sprintf("%d words of what was suppressed, and %d clears", words, moving), func() error {
			by = map[string]int{}
			for _, n := range sink.Wait(t, 1) {
				by[kit.NoticeOf(n).Notification]++
			}
			if by[suppressed] < words || by[kit.TokenMoving] < moving {
				return fmt.Errorf("%v", by)
			}
			return nil
		})
		maps.DeleteFunc(by, func(name string, _ int) bool { return !strings.HasPrefix(name, kit.OIDRoot) })
		return by
	}
	rows := func(want int) {
		t.Helper()
		kit.Until(t, fmt.Sprintf("pnAlarmTable has %d rows", want), func() error {
			if n := len(kit.WalkColumn(t, snmpd.Client, 9, kit.AlarmSubject)); n != want {
				return fmt.Errorf("%d", n)
			}
			return nil
		})
	}
	rows(1000)
	raised := time.Now() // at the latest
	if diff := cmp.Diff(map[string]int{kit.TokenStuck: burst, suppressed: 1}, count(1, 0)); diff != "" {
		t.Error(diff)
	}
	if n, _ := side.Scrape(t).Value("pnagent_notifications_suppressed_total"); n != 1000-burst {
		t.Errorf("got %v suppressed; want %d", n, 1000-burst)
	}
	kit.Until(t, "the bucket is full again", func() error {
		if time.Since(raised) < 6*time.Second {
			return errors.New("not yet")
		}
		return nil
	})
	kit.Request(t, kit.Connect(t, natsURL), "fire", "many", "berlin", `{"instance":0,"transition":"go"}`)
	rows(0)
	if diff := cmp.Diff(map[string]int{kit.TokenStuck: burst, kit.TokenMoving: burst, suppressed: 2}, count(2, burst)); diff != "" {
		t.Error(diff)
	}
	// Each is counted when snmpd answers, which is after the sink has it.
	var sent, failed float64
	kit.Until(t, "all notifications are counted", func() error {
		s := side.Scrape(t)
		sent, _ = s.Value("pnagent_notifications_sent_total", "sink", "agentx")
		failed = 0
		for _, one := range s.All("pnagent_notifications_failed_total") { // by reason
			failed += one.Value
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
	rules := kit.Write(t, "alarms.yaml", "defaults:\n  stuck: {after: soon}\n")
	config := kit.Write(t, "pnagent.yaml", "alarms: "+rules+"\nsnmp.trap-sink: [127.0.0.1:162, '[::1]:162']\nsnmp.inform: true\nalarm-state: a.state\n")
	for _, args := range [][]string{{"check-config", config}, {"serve", "--config", config}, {"serve", "--alarms", rules}} {
		kit.WantFailure(t, kit.Pnagent(t, args...), 1, `alarms\.yaml:2:18: found "soon"; expected a duration`)
	}
	good := kit.Write(t, "good.yaml", "alarms: "+kit.Write(t, "alarms.yaml", kit.Impatient)+"\nsnmp.trap-sink: [127.0.0.1:162, '[::1]:162']\nsnmp.inform: true\n")
	if r := kit.Pnagent(t, "check-config", good); r.Code != 0 {
		t.Errorf("check-config: got %+v; want exit code 0", r)
	}
	kit.WantFailure(t, kit.Pnagent(t, "serve", "--nats", kit.StartNATS(t), "--mib-dir", "", "--snmp.trap-sink", "nowhere"), 2, `sink "nowhere": expected host:port`)
}

func TestDemoRaisesAnAlarmWhileOneLooks(t *testing.T) {
	t.Parallel()
	d := kit.StartDemo(t)
	kit.Until(t, "tokens are stuck", func() error {
		for _, a := range d.Alarms(t) {
			if a.Alarm == "tokenStuck" && a.Place != "" {
				return nil
			}
		}
		return errors.New("none yet")
	})
	d.Stop(t, syscall.SIGINT)
}

// seriesOf are the labels that petrinet_alarm_active has for an alarm.
func seriesOf(a api.Alarm) map[string]string {
	return map[string]string{"net": a.Net, "place": a.Place, "transition": a.Transition, "source": a.Source, "region": a.Region, "alarm": a.Alarm, "for_reason": a.ForReason, "severity": a.Severity}
}
