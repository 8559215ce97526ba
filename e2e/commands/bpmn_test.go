// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pnagent/pnagent/e2e/kit"
)

// graphX is the process of the linear trace's first oracle.
const graphX = "../../petri/bpmn/testdata/graph-x.bpmn"

func TestGraphXHas30MarkingsAndEndsOnlyAtItsEnd(t *testing.T) {
	t.Parallel()
	r := kit.Pnagent(t, "check", "--explore", "1000", graphX)
	if r.Code != 0 || r.Err != "" {
		t.Fatalf("got exit code %d, stderr %q; want 0 and nothing", r.Code, r.Err)
	}
	lines := strings.Split(strings.TrimSpace(r.Out), "\n")
	var got struct {
		Markings, Deadlocks, Ends int
		Complete                  bool
		Bounds, Dead              map[string]uint32
		Path                      []string
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &got); err != nil {
		t.Fatalf("%q: %v", lines[len(lines)-1], err)
	}
	if got.Markings != 30 || !got.Complete || got.Deadlocks != 0 || got.Ends != 1 || got.Bounds["k/end"] != 1 {
		t.Errorf("%+v; expected 30 markings, complete, one end and no deadlock", got)
	}
	if got.Dead != nil || got.Path != nil {
		t.Errorf("%v leads to the deadlock %v; the process is sound", got.Path, got.Dead)
	}
	words := []string{"30 markings visited, all that can be reached; 1 proper end (tokens only in final places) and no deadlock",
		"sound: every instance can end, no end leaves tokens behind, every transition can fire, no place grows without bound"}
	if d := cmp.Diff(words, lines[len(lines)-3:len(lines)-1]); d != "" {
		t.Error(d)
	}
	for place, most := range got.Bounds {
		if most > 1 {
			t.Errorf("place %s holds %d tokens; expected a net that is 1-safe", place, most)
		}
	}
}

// Of the three dead markings, two are proper ends. The shown path is that to the third
// one, although it is longer.
func TestExploringSeparatesProperEndsFromDeadlocks(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "orders.pnml")
	var net strings.Builder
	net.WriteString(`<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id="orders" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="g">` +
		`<place id="open"><initialMarking><text>1</text></initialMarking></place>`)
	for _, place := range []string{"shipped", "refused", "half", "other", "never"} {
		fmt.Fprintf(&net, `<place id=%q/>`, place)
	}
	for i, arc := range []string{"open>ship>shipped", "open>refuse>refused", "open>wait>half", "half>pack>other", "other>both>shipped", "never>both>shipped"} {
		parts := strings.Split(arc, ">")
		if !strings.Contains(net.String(), fmt.Sprintf(`<transition id=%q/>`, parts[1])) {
			fmt.Fprintf(&net, `<transition id=%q/>`, parts[1])
		}
		fmt.Fprintf(&net, `<arc id="in%d" source=%q target=%q/><arc id="out%d" source=%q target=%q/>`, i, parts[0], parts[1], i, parts[1], parts[2])
	}
	net.WriteString(`</page></net></pnml>`)
	if err := os.WriteFile(path, []byte(net.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	r := kit.Pnagent(t, "check", "--explore", "1000", path)
	lines := strings.Split(strings.TrimSpace(r.Out), "\n")
	want := `{"net":"orders","markings":5,"complete":true,"deadlocks":1,"ends":2,"bounds":{"half":1,"never":0,"open":1,"other":1,"refused":1,"shipped":1},` +
		`"path":["wait","pack"],"dead":{"other":1}`
	if got := lines[len(lines)-1]; r.Code != 0 || r.Err != "" || !strings.HasPrefix(got, want) {
		t.Errorf("exit code %d, %s; expected %s", r.Code, got, want)
	}
	words := []string{`5 markings visited, all that can be reached; 2 proper ends (tokens only in final places) and 1 deadlock; a shortest way to one: ["wait" "pack"]`,
		`not sound: an instance can come to where it can no longer end; a shortest way: ["wait"]`, `not sound: 1 transition can never fire: ["both"]`}
	if d := cmp.Diff(words, lines[len(lines)-4:len(lines)-1]); d != "" {
		t.Error(d)
	}
	if r := kit.Pnagent(t, "check", "--json", "--explore", "1000", path); strings.Contains(r.Out, "visited") {
		t.Errorf("with --json: got %s; want no summary", r.Out)
	}
}

func TestTraceOfGraphXIsTheTable(t *testing.T) {
	t.Parallel()
	want := [][]string{{"-", "1", "1"}, {"1", "2 3", "1"}, {"2", "4 5 3", "3"}, {"3", "4 5 6", "1"}, {"4", "7 5 6", "2"}, {"5", "7 9 11 6", "4"},
		{"6", "7 9 11", "1"}, {"7", "8 9 11", "2"}, {"9", "8 10 11", "3"}, {"11", "8 10 12", "1"}, {"8", "10 12", "1"}, {"10", "12", "1"}, {"12", "13", "1"}, {"13", "", "0"}}
	r := kit.Pnagent(t, "engine", "--source", "clerk", "--trace", graphX)
	if r.Code != 0 || r.Err != "" {
		t.Fatalf("got exit code %d, stderr %q; want 0 and nothing", r.Code, r.Err)
	}
	rows, err := csv.NewReader(strings.NewReader(r.Out)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if head := strings.Join(rows[0], ","); head != "step,edge,threads,pointer,parent,who,when" {
		t.Errorf("got columns %s; want step, edge, threads, pointer, parent, who and when", head)
	}
	rows = rows[1:]
	if len(rows) != len(want) {
		t.Fatalf("%d rows; expected %d", len(rows), len(want))
	}
	for i, row := range rows {
		if row[0] != strconv.Itoa(i) || !slices.Equal(row[1:4], want[i]) || row[5] != "clerk" {
			t.Errorf("row %v; expected step %d, %v", row, i, want[i])
		}
		if parent, _ := strconv.Atoi(row[4]); i > 1 && (parent >= i || !slices.Contains(strings.Fields(rows[parent][2]), row[1])) {
			t.Errorf("row %v: step %d did not put that edge into the ring: %v", row, parent, rows[parent])
		}
	}
}

func TestADeadlockedTraceIsReported(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lost.bpmn")
	lost := `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="lost">
  <startEvent id="s"/><exclusiveGateway id="x"/><task id="a"/><task id="b"/><parallelGateway id="j"/><endEvent id="e"/>
  <sequenceFlow id="1" sourceRef="s" targetRef="x"/><sequenceFlow id="2" sourceRef="x" targetRef="a"/><sequenceFlow id="3" sourceRef="x" targetRef="b"/>
  <sequenceFlow id="4" sourceRef="a" targetRef="j"/><sequenceFlow id="5" sourceRef="b" targetRef="j"/><sequenceFlow id="6" sourceRef="j" targetRef="e"/>
</process></definitions>`
	if err := os.WriteFile(path, []byte(lost), 0o600); err != nil {
		t.Fatal(err)
	}
	kit.WantFailure(t, kit.Pnagent(t, "engine", "--trace", path), 1, `the instance is deadlocked: j still waits`)
}

// conditionsInWords are files of which a condition is no expression, by the first fault.
var conditionsInWords = map[string]string{
	"miwg_C.3.0.bpmn": `:325:5: the guard of transition "_2b6bc88e-d3be-4704-87d1-c264bf704589/_be893987-caec-4605-b078-bd96b7cd6c12": column 9: unexpected token`,
}

// check compiles expressions in their languages, each once, and names a branch by its flow.
func TestCheckCompilesEveryExpression(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "p.bpmn")
	flow := func(id, from, to, condition string) string {
		return `<sequenceFlow id="` + id + `" sourceRef="` + from + `" targetRef="` + to + `"><conditionExpression><![CDATA[` + condition + "]]></conditionExpression></sequenceFlow>\n"
	}
	process := `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="p"><startEvent id="s"/><exclusiveGateway id="x"/><inclusiveGateway id="i"/><endEvent id="e"/><sequenceFlow id="f" sourceRef="s" targetRef="x"/>` + "\n" +
		flow("a", "x", "i", "= amount > ") + flow("b", "x", "i", "${amount >< 1}") + flow("c", "x", "i", "amount >") + flow("d", "x", "i", "= amount > 1") +
		flow("g", "i", "e", "${empty}") + flow("h", "i", "e", "${order.check()}") + `</process></definitions>`
	if err := os.WriteFile(path, []byte(process), 0o600); err != nil {
		t.Fatal(err)
	}
	r := kit.Pnagent(t, "check", path)
	want := []string{
		`2:1: the guard of transition "x/a": column 11: found the end; expected an expression`,
		`3:1: the guard of transition "x/b": column 11: found "<"; expected an expression`,
		`4:1: the guard of transition "x/c": column 8: unexpected token EOF`,
		`6:1: the guard of the arc to "g": column 8: found "}"; expected an expression`,
		`7:1: the guard of the arc to "h": column 9: unknown method "check" with 0 arguments`,
	}
	got := strings.Split(strings.TrimSpace(r.Err), "\n")
	for i := range got {
		got[i] = strings.TrimPrefix(got[i], "pnagent: "+path+":")
	}
	if d := cmp.Diff(want, got); d != "" || r.Code != 1 {
		t.Errorf("exit code %d, -want +got\n%s", r.Code, d)
	}
}

// Whatever element has an id is named by check, or it has refused the file.
func TestCheckPrintsWhatEachElementOfABPMNFileBecame(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(kit.Corpus, "bpmn", "*.bpmn"))
	if err != nil || len(files) == 0 {
		t.Skipf("the corpus of example files is not here: %v", err)
	}
	node := regexp.MustCompile(`<(?:[\w-]+:)?(startEvent|endEvent|task|userTask|serviceTask|scriptTask|manualTask|sendTask|receiveTask|businessRuleTask|` +
		`exclusiveGateway|parallelGateway|inclusiveGateway|eventBasedGateway|complexGateway|subProcess|callActivity|boundaryEvent|` +
		`intermediateCatchEvent|intermediateThrowEvent|sequenceFlow)\s[^>]*?\bid="([^"]+)"`)
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			r := kit.Pnagent(t, "check", path)
			if want := conditionsInWords[filepath.Base(path)]; want != "" {
				if r.Code != 1 || !strings.HasPrefix(r.Err, "pnagent: "+path+want) {
					t.Errorf("got exit code %d, %q; want 1 and %s", r.Code, r.Err, want)
				}
			} else if r.Code != 0 || r.Err != "" {
				t.Fatalf("got exit code %d, stderr %q; want 0 and nothing", r.Code, r.Err)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			all := node.FindAllStringSubmatch(string(text), -1)
			if len(all) == 0 {
				t.Fatal("found no elements in the file")
			}
			for _, m := range all {
				if !strings.Contains(r.Out, fmt.Sprintf("%q", m[2])) {
					t.Errorf("nothing is said of the %s %q", m[1], m[2])
				}
			}
		})
	}
}

// The example of a process runs to where people have to act: small claims are
// closed, large ones wait for approval, and a reminder was sent.
func TestTheExampleProcessRuns(t *testing.T) {
	t.Parallel()
	r := kit.Pnagent(t, "engine", "--instances", "10", "--bindings", "../../examples/claim.yaml", "--firings", "1000", "../../examples/claim.bpmn")
	if r.Code != 0 {
		t.Fatalf("got exit code %d, stderr %q; want 0", r.Code, r.Err)
	}
	var got struct {
		Nets map[string]struct {
			Finished, Failed, Deadlocked int
			Tokens                       map[string]int
		}
	}
	if err := json.Unmarshal([]byte(r.Out), &got); err != nil {
		t.Fatal(err)
	}
	claim := got.Nets["claim"]
	if claim.Finished != 4 || claim.Failed != 0 || claim.Deadlocked != 0 || claim.Tokens["closed/end"] != 4 ||
		claim.Tokens["approve/active"] != 6 || claim.Tokens["remindedEnd/end"] != 6 {
		t.Errorf("%+v; expected 4 closed, 6 that wait for approval with a reminder", claim)
	}
}

func TestPlayPrintsWhatAnInclusiveJoinWaitsFor(t *testing.T) {
	t.Parallel()
	r := kit.PnagentWith(t, "fire s\nfire split\nfire t1\nfire join\n", "play", "../../petri/bpmn/testdata/inclusive.bpmn")
	lines := strings.Split(strings.TrimSpace(r.Out), "\n")
	if last := lines[len(lines)-1]; r.Code != 1 || !strings.Contains(last, `not enabled: place \"j2\" is empty`) || !strings.Contains(last, `\"j3\"`) {
		t.Errorf("got exit code %d, %s; want 1, with j2 and j3 not enabled", r.Code, last)
	}
}
