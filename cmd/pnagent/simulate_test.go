// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/internal/racetest"
)

const claimExample = "../../examples/claim.bpmn"

// simulation runs simulate on the example with further arguments.
func simulation(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	runs := "10"
	if racetest.UnderRace {
		runs = "4"
	}
	return called(t.Context(), append([]string{"simulate", "--bindings", "../../examples/claim.yaml", "--for", "5d", "--runs", runs, claimExample}, args...)...)
}

func TestSimulatePrintsTables(t *testing.T) {
	code, out, errs := simulation(t)
	for _, want := range []string{" runs of 5 d, of which the first ", "\nCases. ", "\nclerks  3     ", "\ntoAssess  ", " min"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if code != exitDone {
		t.Errorf("code %d, %s", code, errs)
	}
}

func TestSimulatePrintsJSON(t *testing.T) {
	code, out, errs := simulation(t, "--json")
	var r struct {
		Net   string
		Pools []struct {
			Busy struct{ Mean, Low, High float64 } `json:"busy_share"`
		}
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != exitDone || r.Net != "claim" || len(r.Pools) != 1 || r.Pools[0].Busy.Low > 0.78 || r.Pools[0].Busy.High < 0.78 {
		t.Errorf("code %d, %v, %+v, %s", code, err, r, errs)
	}
}

func TestSimulateFindsHowManyAreNeededAndWritesAPage(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.html")
	code, out, errs := simulation(t, "--vary", "clerks=2..4", "--report", page)
	if code != exitDone || !strings.Contains(out, "clerks: its queue does not grow with 3; it is gone with 4 (") || !strings.Contains(out, "grows by ") {
		t.Errorf("code %d, %s\n%s", code, errs, out)
	}
	html, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"it is gone with 4", "What the runs with 4 of clerks had in common.", "<td>toAssess</td>"} {
		if !strings.Contains(string(html), want) {
			t.Errorf("no %q on the page", want)
		}
	}
}

// The page shows what its commands print.
func TestTheOutputsOfTheSimulatePageAreReal(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("other processors may round otherwise")
	}
	if racetest.UnderRace {
		t.Skip("takes half a minute with the race detector, which watches shorter runs")
	}
	page, err := os.ReadFile("../../docs/simulate.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(page), "```console\n$ pnagent ")[1:]
	if len(blocks) != 2 {
		t.Fatalf("%d commands on the page; want 2", len(blocks))
	}
	for _, b := range blocks {
		b, _, _ = strings.Cut(b, "```")
		command, want, _ := strings.Cut(b, "\n")
		code, out, errs := called(t.Context(), strings.Fields(strings.ReplaceAll(command, "examples/", "../../examples/"))...)
		if code != exitDone || out != want {
			t.Errorf("pnagent %s: code %d, %s\n%s\nthe page has\n%s", command, code, errs, out, want)
		}
	}
}

func TestMistakesInACallOfSimulate(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--vary", "clerks=8..1"}, `--vary: "clerks=8..1"; expected a pool and at most 100 sizes, such as clerks=1..8`},
		{[]string{"--vary", "bosses=1..2"}, `--vary: net "claim" has no pool "bosses"; expected one under simulate in the bindings`},
		{[]string{"--net", "other"}, `../../examples/claim.bpmn: the nets are ["claim"]; expected one, or --net with one of them`},
		{[]string{"--warmup", "soon"}, `--warmup: "soon"; expected auto or a duration such as 8h`},
		{[]string{"--warmup", "9d"}, "a warm-up of 777600000000 µs in runs of 432000000000 µs; expected less"},
		{[]string{"--start", "now"}, `--start: "now"; expected a time such as 2030-01-31T08:00:00Z`},
		{[]string{"--confidence", "95"}, "a confidence of 95; expected more than 0 and less than 1"},
	} {
		if code, _, errs := simulation(t, c.args...); code != exitUsage || !strings.Contains(errs, c.want) {
			t.Errorf("%q: code %d, %s", c.args, code, errs)
		}
	}
}
