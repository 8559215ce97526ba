// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pnagent/pnagent/stats"
)

// An invalid number of instances makes the activity fail: that is counted, it is an incident,
// and the engine logs why, once a second for the transition.
func TestAnInvalidNumberOfInstancesIsLogged(t *testing.T) {
	for _, c := range []struct{ number, want string }{
		{`"many"`, `found \"many\"; expected a whole number`}, {`-1`, "found -1;"}, {`2.5`, "found 2.5;"},
		{`10001`, `err="f.bpmn:2:52: loopCardinality of user task \"n\": found 10001; expected a whole number from 0 to 10000"`},
	} {
		synctest.Test(t, func(t *testing.T) {
			var logged bytes.Buffer
			nets := eventNets(t, processes(t, `<process id="p"><startEvent id="s"/>flow(s,give)<userTask id="give"/>flow(give,n)
<userTask id="n"><multiInstanceLoopCharacteristics><loopCardinality>${n}</loopCardinality></multiInstanceLoopCharacteristics></userTask></process>`)...)
			e := newEngine(t, Config{Source: "s", Nets: nets, Instances: 2, Workers: 1, Log: slog.New(slog.NewTextHandler(&logged, nil))})
			stop := start(t, e)
			for i := range 2 {
				synctest.Wait()
				if err := e.FireData(t.Context(), "p", i, "give", []byte(`{"n":`+c.number+`}`)); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(100 * time.Second)
			rows := rowsOf(t, e, 0)
			stop()
			k := nets[0].at("n/begin")
			if tr := rows.Transitions[k]; tr.Failures != 2 || tr.Firings > 0 {
				t.Errorf("%s: %d failures and %d firings of %s", c.number, tr.Failures, tr.Firings, nets[0].Tables.Net.Transitions[k].ID)
			}
			waits := false
			place, _ := nets[0].Tables.PlaceIndex("give-n")
			for _, stuck := range rows.Places[place].Stuck {
				for _, w := range stuck.Waits {
					waits = waits || int(w.Transition) == k && w.Reason == stats.ReasonIncident
				}
			}
			if !waits {
				t.Errorf("%s: %+v; expected an incident", c.number, rows.Places[place].Stuck)
			}
			lines := strings.Split(strings.TrimSpace(logged.String()), "\n")
			if !strings.Contains(lines[0], `msg="transition failed" net=p transition=n/begin instance=s/0 err="`) || !strings.Contains(lines[0], c.want) || len(lines) > 2 {
				t.Errorf("%s: logged are %d lines, first %s", c.number, len(lines), lines[0])
			}
		})
	}
}

// A list may have as many elements as a number may say.
func TestAListOfTooManyElementsIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		nets := eventNets(t, processes(t, `<process id="p"><startEvent id="s"/>flow(s,give)<userTask id="give"/>flow(give,n)
<userTask id="n"><multiInstanceLoopCharacteristics><loopDataInputRef>l</loopDataInputRef></multiInstanceLoopCharacteristics></userTask></process>`)...)
		e := newEngine(t, Config{Source: "s", Nets: nets, Instances: 1, Workers: 1, Log: slog.New(slog.NewTextHandler(&logged, nil))})
		defer start(t, e)()
		synctest.Wait()
		if err := e.FireData(t.Context(), "p", 0, "give", []byte(`{"l":[`+strings.Repeat("1,", 10_000)+`1]}`)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if want := "a list of 10001 elements; expected at most 10000"; !strings.Contains(logged.String(), want) {
			t.Errorf("logged is %q, expected %s", logged.String(), want)
		}
	})
}

// The same for a guard that fails, as by a variable that does not exist.
func TestAGuardThatFailsIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		nets := eventNets(t, processes(t, `<process id="p"><startEvent id="s"/>flow(s,g)<exclusiveGateway id="g" default="other"/>
<sequenceFlow id="yes" sourceRef="g" targetRef="t"><conditionExpression>${missing == 1}</conditionExpression></sequenceFlow>
<sequenceFlow id="other" sourceRef="g" targetRef="t"/><userTask id="t"/></process>`)...)
		e := newEngine(t, Config{Source: "s", Nets: nets, Instances: 1, Workers: 1, Log: slog.New(slog.NewTextHandler(&logged, nil))})
		stop := start(t, e)
		synctest.Wait()
		stop()
		if want := `msg="guard failed" net=p transition=g/yes instance=s/0 err="f.bpmn:2:1: unknown variable`; !strings.Contains(logged.String(), want) {
			t.Errorf("logged is %q, expected %s", logged.String(), want)
		}
	})
}
