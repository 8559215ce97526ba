// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"
	"encoding/csv"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/act"
	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/web/api"
)

// sheet returns the rows of a table, and checks the headers of its answer.
func (st *stage) sheet(t *testing.T, path, file string) [][]string {
	t.Helper()
	w := st.get(path)
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/csv; charset=utf-8; header=present" || w.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("%s: got status %d, headers %v; want a table that is not cached:\n%.300s", path, w.Code, w.Header(), w.Body)
	}
	if kind, params, err := mime.ParseMediaType(w.Header().Get("Content-Disposition")); err != nil || kind != "attachment" || params["filename"] != file {
		t.Errorf("%s: got %q, %v; want the file %s", path, w.Header().Get("Content-Disposition"), err, file)
	}
	if n := strings.Count(w.Body.String(), "\n"); strings.Count(w.Body.String(), "\r\n") != n || !strings.HasSuffix(w.Body.String(), "\r\n") {
		t.Errorf("%s: lines end with other than CRLF", path)
	}
	rows, err := csv.NewReader(w.Body).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return rows
}

func TestTablesHaveTheNumbersOfThePage(t *testing.T) {
	st := newStage(t, nil)
	view := orders()
	view.Nets[0].Def.Places[0].Name = "=HYPERLINK(\"http://evil.example\",\"Payment\")\n\u202e"
	st.show(view)
	const at = "2026-03-01T12:00:01.000000Z"
	st.now = noon.Add(time.Second)
	want := [][]string{
		{"at", "net", "place", "name", "final", "tokens", "instances", "oldest_since", "oldest_age_seconds", "arrival_rate_per_second"},
		{at, "orders", "due", `'=HYPERLINK("http://evil.example","Payment")\u000a\u202e`, "false", "2", "2", "2026-03-01T11:58:00.000000Z", "121", ""},
		{at, "orders", "paid", "", "true", "0", "0", "", "0", ""},
	}
	if d := cmp.Diff(want, st.sheet(t, "/api/v1/places.csv?net=orders", "orders-places-20260301T120001Z.csv")); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	want = [][]string{
		{"at", "net", "transition", "name", "rate_per_second", "enabled", "enabled_since", "enabled_age_seconds", "running", "blocked", "failures"},
		{at, "orders", "pay", "Pay", "", "1", "2026-03-01T11:59:59.000000Z", "2", "", "5", "3"},
	}
	if d := cmp.Diff(want, st.sheet(t, "/api/v1/transitions.csv?net=orders", "orders-transitions-20260301T120001Z.csv")); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for _, path := range []string{"/api/v1/places.csv", "/api/v1/transitions.csv", "/api/v1/stuck.csv"} {
		for query, status := range map[string]int{"": 400, "?net=none": 404} {
			if w := st.get(path + query); w.Code != status || w.Header().Get("Content-Type") != "application/json" {
				t.Errorf("%s%s: got status %d with %s; want %d as JSON", path, query, w.Code, w.Header().Get("Content-Type"), status)
			}
		}
	}
}

// A table of the past has the numbers and ages of then; of places in which tokens may
// grow old, the order is that of their tokens.
func TestATableOfThePast(t *testing.T) {
	st := newStage(t, nil)
	st.alarms.Resting = map[string][]string{"orders": {"due"}}
	view := orders()
	view.Nets[0].Rows.Places[1].Tokens = 5
	st.show(view.Sum())
	st.now = noon.Add(time.Minute)
	st.show(later(view, time.Minute, 8))
	rows := st.sheet(t, "/api/v1/places.csv?net=orders&at=2026-03-01T12:00:30Z", "orders-places-20260301T120000Z.csv")
	if d := cmp.Diff([]string{"2026-03-01T12:00:00.000000Z", "orders", "due", "Payment due", "false", "2", "2", "2026-03-01T11:58:00.000000Z", "120", ""}, rows[2]); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for at, status := range map[string]int{"yesterday": 400, "2026-03-01T11:00:00Z": 404} {
		if w := st.get("/api/v1/transitions.csv?net=orders&at=" + at); w.Code != status {
			t.Errorf("at=%s: got status %d; want %d", at, w.Code, status)
		}
	}
}

func TestATableOfAlarmsIsFiltered(t *testing.T) {
	st := newStage(t, nil)
	st.alarms.Active = []alarm.Alarm{
		{Index: 1, Net: "orders", Subject: "due", Kind: alarm.TokenStuck, Severity: alarm.Minor, Since: noon.Add(-time.Minute).UnixMicro(), Affected: 2, Text: "2, and more"},
		{Index: 2, Net: "orders", Kind: alarm.NetDeadlocked, Severity: alarm.Major, Ack: &alarm.Ack{At: noon.UnixMicro(), By: "@ada", Comment: "seen"}},
		{Index: 3, Net: "other", Kind: alarm.NetDeadlocked, Severity: alarm.Major, SilencedUntil: noon.UnixMicro(), Unknown: "forgotten", Follows: "berlin"},
	}
	st.show(orders())
	for query, want := range map[string]string{"": "1 2 3", "?net=orders": "1 2", "?severity=major": "2 3", "?alarm=tokenStuck": "1", "?acknowledged=no": "1 3", "?acknowledged=yes": "2",
		"?silenced=yes": "3", "?severity=major&silenced=no": "2", "?net=none": ""} {
		file := map[string]string{"?net=orders": "orders-", "?net=none": "none-"}[query] + "alarms-20260301T120000Z.csv"
		rows := st.sheet(t, "/api/v1/alarms.csv"+query, file)
		var got []string
		for _, row := range rows[1:] {
			got = append(got, row[1])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got the alarms %v; want %s", query, got, want)
		}
		if query == "" {
			all := []string{"2026-03-01T12:00:00.000000Z", "1", "minor", "tokenStuck", "orders", "Orders & more", "due", "", "", "", "Payment due", "2026-03-01T11:59:00.000000Z", "60", "", "2", "2, and more", "", "", "", "", "", ""}
			if d := cmp.Diff(all, rows[1]); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if d := cmp.Diff([]string{"'@ada", "2026-03-01T12:00:00.000000Z", "seen", "", "", ""}, rows[2][16:]); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if d := cmp.Diff([]string{"2026-03-01T12:00:00.000000Z", "forgotten", "berlin"}, rows[3][19:]); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		}
	}
}

// A table of tokens has all of them, and says if there may be more.
func TestATableOfTokensIsWhole(t *testing.T) {
	silent := false
	st := newStage(t, func(c *Config) {
		c.Oldest = func(_ context.Context, _, source, _, _ string, q *stats.Query) (act.Found, error) {
			if source == "host-2" && silent {
				return act.Found{}, errors.New("silent")
			}
			out := make([]act.Waiting, 2600)
			for i := range out {
				out[i] = act.Waiting{Instance: source + "/" + strings.Repeat("7", 1+i%3) + string(rune('a'+i%26)), Injected: noon.UnixMicro() - int64(len(out)-i)*second,
					Waits: []telemetry.InstanceWait{{Transition: "pay", Reason: "missing", Place: "paid", Count: 2}, {Transition: "-pay", Reason: "manual"}}, Data: `{"order":"` + source + `"}`}
			}
			return selected(q, out), nil
		}
	})
	st.show(orders())
	rows := st.sheet(t, "/api/v1/stuck.csv?net=orders&place=due&limit=1", "orders-stuck-20260301T120000Z.csv")
	if len(rows) != 1+2*2600 {
		t.Errorf("got %d rows; want all of both sources", len(rows)-1)
	}
	want := []string{"2026-03-01T12:00:00.000000Z", "orders", "host-1/7a", "due", "Payment due", "1", "2026-03-01T11:16:40.000000Z", "2600", "host-1"}
	if d := cmp.Diff(want, rows[1][:9]); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if !strings.HasPrefix(rows[1][9], "pay: ") || !strings.Contains(rows[1][9], "; -pay: ") {
		t.Errorf("got the reason %q; want those of both transitions", rows[1][9])
	}
	if rows[1][10] != `{"order":"host-1"}` {
		t.Errorf("got the data %q; want what the engine shows", rows[1][10])
	}
	if w := st.get("/api/v1/stuck.csv?net=orders&place=due"); len(w.Header().Values(incomplete)) != 0 {
		t.Errorf("got %v; want a whole table", w.Header())
	}
	if rows := st.sheet(t, "/api/v1/stuck.csv?net=orders&data=ORDER=host-2&older=2590", "orders-stuck-20260301T120000Z.csv"); len(rows) != 1+11 {
		t.Errorf("got %d rows; want those of one source that are old", len(rows)-1)
	}
	silent = true
	if got := st.get("/api/v1/stuck.csv?net=orders&place=due").Header().Get(incomplete); got != "1 sources did not answer" {
		t.Errorf("got %q; want the reason why rows may lack", got)
	}
}

func TestFileNamesAreSafe(t *testing.T) {
	st := newStage(t, nil)
	at := api.Time(noon.UnixMicro())
	for net, want := range map[string]string{
		"orders": "orders", "": "", "a/b\\c:d*e?f\"g<h>i|j": "a-b-c-d-e-f-g-h-i-j", "../../etc": "etc", "支払": "支払", "a\r\nSet-Cookie: x=1": "a--Set-Cookie--x-1",
		"\u202egpj.exe": "gpj.exe", "...": "", "\xff\xfe": "", strings.Repeat("ä", 100): strings.Repeat("ä", 64), "%2e%2e": "2e-2e", "a;filename=b": "a-filename-b",
	} {
		if want != "" {
			want += "-"
		}
		if got := fileName(net, "places", at); got != want+"places-20260301T120000Z" {
			t.Errorf("%q: got %q; want %q in front", net, got, want)
		}
		view := orders()
		view.Nets[0].Name = net
		st.show(&merge.View{At: view.At, Nets: view.Nets})
		if net == "" {
			continue
		}
		r := st.get("/api/v1/places.csv?" + url.Values{"net": {net}}.Encode())
		_, params, err := mime.ParseMediaType(r.Header().Get("Content-Disposition"))
		if err != nil || params["filename"] != want+"places-20260301T120000Z.csv" {
			t.Errorf("%q: got the header %q, %v", net, r.Header().Get("Content-Disposition"), err)
		}
	}
}
