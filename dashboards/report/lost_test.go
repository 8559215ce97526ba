// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// texts are the cells of a table, a line a row.
func texts(f *Figure) []string {
	if f.Table == nil {
		return []string{f.Empty}
	}
	var all []string
	for _, row := range f.Table.Rows {
		var cells []string
		for _, c := range row {
			cells = append(cells, c.Text)
		}
		all = append(all, strings.Join(cells, "|"))
	}
	return all
}

func figureOf(t *testing.T, r *Report, title string) *Figure {
	t.Helper()
	for _, p := range r.Summary {
		for _, f := range p.Figures {
			if f.Title == title {
				return f
			}
		}
	}
	t.Fatalf("there is no figure %q", title)
	return nil
}

// What is unknown stands apart, what follows from a lost source is counted, and what is silenced
// is active.
func TestWhatIsKnownOfAlarmsIsKeptApart(t *testing.T) {
	p := pages()
	const why = `"unknown":"source \"rome\" is silent since 2026-03-02T07:30:00Z and was forgotten","outdated":true`
	alarm := func(text string) string {
		return `{"severity":"minor","since":"2026-03-02T08:55:00Z","text":"x",` + text + `}`
	}
	p["overview"] = `{"at":"2026-03-02T09:00:00Z","history":{"from":"2026-03-02T08:50:00Z"},"nets":[{"id":"well","sources_up":1,"alarms":2,"alarms_unknown":1,"alarms_following":1},{"id":"ill","alarms":2,"alarms_following":1,"sources_up":1}],"sources":[],"alarms":[` +
		strings.Join([]string{
			alarm(`"alarm":"tokenStuck","net":"ill","place":"q","silenced_until":"2026-03-02T10:00:00Z"`),
			alarm(`"alarm":"sourceLost","source":"osaka"`), alarm(`"alarm":"tokenStuck","net":"ill","place":"p","follows":"osaka"`),
			alarm(`"alarm":"sourceLost","source":"rome",` + why), alarm(`"alarm":"tokenStuck","net":"well","place":"q",` + why), alarm(`"alarm":"tokenStuck","net":"well","place":"p","follows":"rome",` + why),
		}, ",") + `]}`
	p["alarms/cleared"] = `{"cleared":[]}`
	r, err := side(t, p).Report(t.Context(), Options{Now: now, Since: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	checkPage(t, r)
	want := []string{"2 nets: 1 has something wrong now, 1 has alarms that are unknown or follow from a lost source.", "6 alarms raised and 0 cleared in this span; 2 active now, 2 unknown, 2 following from a lost source."}
	want[1] = strings.Replace(want[1], "6 alarms", "4 alarms", 1) // without those that follow
	if d := cmp.Diff(want, r.Headline); d != "" {
		t.Errorf("the headline (-want +got):\n%s", d)
	}
	const for5 = "08:55:00|5 min|"
	wrong := figureOf(t, r, "Wrong now")
	if d := cmp.Diff([]string{"sourceLost|minor|osaka||" + for5, "tokenStuck|minor|q|ill|" + for5 + "silenced until 2026-03-02 10:00:00"}, slices.Sorted(slices.Values(texts(wrong)))); d != "" {
		t.Errorf("wrong now (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"1 alarm following from lost source osaka: not listed here.", "1 alarm following from lost source rome: not listed here."}, wrong.Notes); d != "" {
		t.Errorf("notes (-want +got):\n%s", d)
	}
	reason := `source "rome" is silent since 2026-03-02T07:30:00Z and was forgotten`
	if d := cmp.Diff([]string{"sourceLost|minor|rome||" + for5 + reason, "tokenStuck|minor|q|well|" + for5 + reason}, slices.Sorted(slices.Values(texts(figureOf(t, r, "Unknown alarms"))))); d != "" {
		t.Errorf("unknown (-want +got):\n%s", d)
	}
	if marks := r.Sections[1].Mark + "," + r.Sections[2].Mark; marks != "burnt," {
		t.Errorf("the nets have the marks %q; want the net with unknown alarms without one", marks)
	}
	last := 0
	for _, row := range figureOf(t, r, "Alarms of this span").Table.Rows {
		if row[5].Text == "unknown" && row[5].Class == "warm" {
			last++
		} else if row[5].Text != "active" {
			t.Errorf("%s was last cleared %q", row[2].Text, row[5].Text)
		}
	}
	if last != 3 {
		t.Errorf("%d rows are unknown; want 3", last)
	}
}

// Prometheus has a series for each severity of an alarm: one that changed in a reload is one
// alarm, which did not end. A silenced one is active.
func TestAnotherSeverityIsNoOtherAlarm(t *testing.T) {
	series := func(place, more string, quarters ...int) string {
		var values []string
		for _, m := range quarters {
			values = append(values, fmt.Sprintf(`[%d,"1"]`, now.Add(time.Duration(m)*15*time.Second).Unix()))
		}
		return `{"metric":{"alarm":"tokenStuck","net":"a","place":"` + place + `"` + more + `},"values":[` + strings.Join(values, ",") + `],"value":` + values[len(values)-1] + `}`
	}
	answer := func(kind string, all ...string) string {
		return `{"status":"success","data":{"resultType":"` + kind + `","result":[` + strings.Join(all, ",") + `]}}`
	}
	ago := func(from, to int) (all []int) {
		for m := from; m <= to; m++ {
			all = append(all, m)
		}
		return all
	}
	var asked atomic.Int32
	minor, major := `,"severity":"minor"`, `,"severity":"major"`
	r, err := prom(t, []string{"a"}, func(query string) string {
		switch {
		case strings.HasPrefix(query, "max by (net, place, transition, source, region, alarm, for_reason, severity) (petrinet_alarm_active") && asked.Add(1) == 1: // over the span
			return answer("matrix", series("p", minor, ago(-120, -41)...), series("p", major, ago(-40, 0)...), series("q", minor, ago(-80, 0)...), series("r", minor, ago(-80, 0)...))
		case strings.HasPrefix(query, "max by (net, place, transition, source, region, alarm, for_reason, severity) (petrinet_alarm_active"):
			return answer("vector", series("p", major, 0), series("q", minor, 0), series("r", minor, 0))
		case query == "petrinet_alarm_silenced":
			return answer("vector", series("p", "", 0))
		case query == "petrinet_alarm_acknowledged":
			return answer("vector")
		case query == "petrinet_alarm_unknown":
			return answer("vector", series("q", "", 0))
		case query == "petrinet_alarm_follows":
			return answer("vector", series("r", `,"follows":"osaka"`, 0))
		}
		return ""
	}).Report(t.Context(), Options{Now: now, Since: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if want := "2 alarms raised and 0 cleared in this span; 1 active now, 1 unknown, 1 following from a lost source."; r.Headline[1] != want {
		t.Errorf("the headline is %q; want %q", r.Headline[1], want)
	}
	wrong, unknown := texts(figureOf(t, r, "Wrong now")), texts(figureOf(t, r, "Unknown alarms"))
	if len(wrong) != 1 || !strings.HasPrefix(wrong[0], "tokenStuck|major|p|a|08:29:45|30 min 15 s|") || !strings.HasSuffix(wrong[0], "|silenced") {
		t.Errorf("wrong now is %q; want one row of place p, since its first raise", wrong)
	}
	if len(unknown) != 1 || !strings.HasPrefix(unknown[0], "tokenStuck|minor|q|a|") {
		t.Errorf("unknown is %q; want one row of place q", unknown)
	}
	if rows := texts(figureOf(t, r, "Alarms of this span")); len(rows) != 3 {
		t.Errorf("the alarms of the span are %q; want three", rows)
	}
}
