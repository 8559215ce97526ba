// SPDX-License-Identifier: Apache-2.0

package alarms

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// threeReviewsBPMN has a task of which each instance waits for three people.
const threeReviewsBPMN = `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="mi">
  <startEvent id="s"/><userTask id="review"><multiInstanceLoopCharacteristics><loopCardinality>3</loopCardinality></multiInstanceLoopCharacteristics></userTask><endEvent id="e"/>
  <sequenceFlow id="f0" sourceRef="s" targetRef="review"/><sequenceFlow id="f1" sourceRef="review" targetRef="e"/>
</process></definitions>
`

// withinBPMN waits for a person inside of a sub-process with a deadline.
const withinBPMN = `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="within">
  <startEvent id="s"/><endEvent id="e"/><endEvent id="x"/>
  <subProcess id="desk"><startEvent id="in"/><userTask id="ask"/><endEvent id="out"/>
    <sequenceFlow id="toAsk" sourceRef="in" targetRef="ask"/><sequenceFlow id="asked" sourceRef="ask" targetRef="out"/></subProcess>
  <boundaryEvent id="late" attachedToRef="desk"><timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition></boundaryEvent>
  <sequenceFlow id="f0" sourceRef="s" targetRef="desk"/><sequenceFlow id="f1" sourceRef="desk" targetRef="e"/><sequenceFlow id="f2" sourceRef="late" targetRef="x"/>
</process></definitions>
`

// A task that runs three times has three tokens of each instance and one alarm, in every face.
func TestFacesShowWhatTheAuthorDrew(t *testing.T) {
	t.Parallel()
	snmptest.RequireTools(t)
	for _, tt := range []struct {
		net, file, place   string
		tokens             float64
		places, transition []string
		aside              string // a place that is not work, if the net has one
	}{
		{"mi", threeReviewsBPMN, "review/run", 15, []string{"e/end", "f0", "f1", "review/run", "s/start"}, []string{"e", "review", "s"}, ""},
		{"within", withinBPMN, "toAsk", 5, []string{"asked", "e/end", "f0", "f1", "f2", "in/start", "s/start", "toAsk", "x/end"},
			[]string{"ask", "desk", "e", "in", "late", "out", "s", "x"}, "desk/active"},
	} {
		t.Run(tt.net, func(t *testing.T) {
			t.Parallel()
			file := kit.Write(t, tt.net+".bpmn", tt.file)
			bus, m := kit.StartNATS(t), kit.Generate(t, "", file)
			rules := kit.Write(t, "alarms.yaml", "settle: 0s\ndefaults:\n  stuck: {after: 1s, clear_after: 0s}\n  starved: {after: 1s, clear_after: 0s}\n")
			side := kit.Serve(t, bus, "--mib-dir", m.Dir, "--alarms", rules, "--snmp", "127.0.0.1:0")
			kit.RunEngine(t, bus, "berlin", "--instances", "5", file)
			kit.Until(t, "five instances wait", func() error {
				if n, _ := side.Scrape(t).Value("petrinet_place_tokens", "net", tt.net, "place", tt.place); n != tt.tokens {
					return fmt.Errorf("%v tokens", n)
				}
				return nil
			})
			// The text has the tokens that had waited for a second when it was written: on a busy
			// machine the instances start one after the other.
			a := facesAgree(t, side, 1)[0]
			if n := stuckTokens(a.Text); a.Alarm != "tokenStuck" || a.Place != tt.place || n < 1 || n > tt.tokens {
				t.Errorf("the alarm is %+v", a)
			}
			r := kit.Pnagent(t, "alarms", "list", "--url", side.URL)
			if r.Code != 0 || strings.Count(r.Out, "tokenStuck") != 1 {
				t.Errorf("alarms list: %+v", r)
			}
			sameNumbers(t, side, tt.net, tt.tokens, tt.places, tt.transition)
			names := objectsOf(t, m, side, tt.net)
			if len(names) != len(tt.places)+len(tt.transition) {
				t.Errorf("snmpwalk of the module has the objects of %v", names)
			}

			all := kit.Serve(t, bus, "--mib-dir", "", "--objects", "all", "--snmp", "127.0.0.1:0")
			kit.Until(t, "a sidecar with --objects all has the place, and the rest", func() error {
				for _, place := range []string{tt.place, tt.aside} {
					if n, known := all.Scrape(t).Value("petrinet_place_tokens", "net", tt.net, "place", place); place != "" && (!known || n == 0) {
						return fmt.Errorf("%v tokens in %s", n, place)
					}
				}
				return nil
			})
			if n := netTokens(t, all, tt.net); n != tt.tokens {
				t.Errorf("with --objects all the net has %v tokens; want %v", n, tt.tokens)
			}
		})
	}
}

// stuckTokens returns how many tokens the text of an alarm says are stuck, or 0.
func stuckTokens(text string) float64 {
	found := regexp.MustCompile(`: (\d+), the oldest since `).FindStringSubmatch(text)
	if found == nil {
		return 0
	}
	n, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		return 0
	}
	return n
}

// sameNumbers checks the sum and the rows of a net at the API and in metrics.
func sameNumbers(t *testing.T, side *kit.Sidecar, net string, tokens float64, places, transitions []string) {
	t.Helper()
	if n := netTokens(t, side, net); n != tokens {
		t.Errorf("the API has %v tokens; want %v", n, tokens)
	}
	var shown []string
	v := side.View(t).Nets[0]
	for _, p := range v.Places {
		shown = append(shown, p.ID)
	}
	slices.Sort(shown)
	if !slices.Equal(shown, places) {
		t.Errorf("the API has the places %v; want %v", shown, places)
	}
	shown = nil
	for _, tr := range v.Transitions {
		shown = append(shown, tr.ID)
	}
	slices.Sort(shown)
	if !slices.Equal(shown, transitions) {
		t.Errorf("the API has the transitions %v; want %v", shown, transitions)
	}
	sum, series := 0.0, side.Scrape(t).All("petrinet_place_tokens")
	for _, s := range series {
		sum += s.Value
	}
	if sum != tokens || len(series) != len(places) {
		t.Errorf("the metrics have %v tokens in %d places; want %v in %d", sum, len(series), tokens, len(places))
	}
}

// netTokens returns the sum of a net's tokens at the API.
func netTokens(t *testing.T, side *kit.Sidecar, net string) float64 {
	t.Helper()
	var v struct {
		Nets []struct {
			ID     string
			Tokens float64
		}
	}
	if err := json.Unmarshal(side.Page(t, "/api/v1/view"), &v); err != nil || len(v.Nets) != 1 || v.Nets[0].ID != net {
		t.Fatal(v, err)
	}
	return v.Nets[0].Tokens
}

// objectsOf returns the places and transitions that snmpwalk shows of a net's own module, by the
// names of their oldest and enabled ages.
func objectsOf(t *testing.T, m kit.Modules, side *kit.Sidecar, net string) []string {
	t.Helper()
	n := m.Lock.Net(net)
	r := kit.RunIn(t, "", append(kit.CleanEnv(), m.Env()...), "snmpwalk", "-v2c", "-c", "public", "-OQ", side.SNMP, fmt.Sprintf("%s.2.%d", kit.OIDRoot, n.Number))
	if r.Code != 0 {
		t.Fatalf("snmpwalk: %+v", r)
	}
	var names []string
	for _, found := range regexp.MustCompile(`(?m)^\S+::(\w+?)(?:Tokens|Firings)\.0 = `).FindAllStringSubmatch(r.Out, -1) {
		names = append(names, found[1])
	}
	return names
}
