// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/collector/alarm"
)

// notebook is a fake of a watch.Watcher: alarm 7 is active, and silence a is in effect.
type notebook struct{ wrote []string }

func (n *notebook) Acknowledge(_ context.Context, indices []uint32, by, comment string) error {
	return n.write(len(indices) == 1 && indices[0] == 7, alarm.ErrNoAlarm, "ack", indices, by, comment)
}

func (n *notebook) Unacknowledge(_ context.Context, indices []uint32, by, comment string) error {
	return n.write(len(indices) == 1 && indices[0] == 7, alarm.ErrNoAlarm, "unack", indices, by, comment)
}

func (n *notebook) Close(_ context.Context, indices []uint32, of alarm.Selection, by, comment string) (alarm.Closed, error) {
	err := n.write(len(indices) == 0 || indices[0] == 7, alarm.ErrHolds, "close", indices, of, by, comment)
	return alarm.Closed{Indices: []uint32{7}, Holding: []uint32{9}}, err
}

func (n *notebook) Silence(_ context.Context, s alarm.Silence, length time.Duration) (alarm.Silence, error) {
	what := []any{"silence", s.Selection, length, s.By, s.Comment}
	if s.Recurs.Cron != "" {
		what = append(what, s.From, s.Until, s.Recurs)
	}
	err := n.write(length > 0, alarm.ErrNote, what...)
	s.ID, s.From, s.Until, s.Pending = "a", t0, t0+length.Microseconds(), s.Recurs.Cron != ""
	return s, err
}

func (n *notebook) Unsilence(_ context.Context, id, by string) error {
	return n.write(id == "a", alarm.ErrNoSilence, "unsilence", id, by)
}

func (n *notebook) write(ok bool, err error, what ...any) error {
	if !ok {
		return err
	}
	n.wrote = append(n.wrote, fmt.Sprint(what...))
	return nil
}

func ada(*http.Request) (string, bool, error) { return "ada", true, nil }

// changes are a valid request of each change, by path.
func changes() map[string]string {
	return map[string]string{
		"/api/v1/alarms/ack":       `{"indices":[7],"comment":"seen"}`,
		"/api/v1/alarms/unack":     `{"indices":[7],"comment":"not yet"}`,
		"/api/v1/alarms/close":     `{"comment":"the pod was deleted","alarm":"tokenStuck","net":"n*","place":"p","transition":"t","source":"s","for_reason":"noWorker"}`,
		"/api/v1/alarms/silence":   `{"for_seconds":90,"comment":"upgrade","alarm":"tokenStuck","net":"n*","place":"p","transition":"t","source":"s","for_reason":"noWorker"}`,
		"/api/v1/alarms/unsilence": `{"id":"a"}`,
		"/api/v1/act":              `{"verb":"inject","net":"order","instance":"host-1/7","place":"p0","transition":"","tokens":2,"source":"host-1","comment":"by mail","dry_run":true}`,
	}
}

// recurring is the body of a request for a silence that begins later and recurs.
const recurring = `{"for_seconds":7200,"net":"n","from":"2026-09-22T00:00:00Z","cron":"0 2 * * sat","zone":"Europe/Berlin","ends":"2027-01-01T00:00:00Z"}`

func posted(path, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	return r
}

func TestChangesAreMadeForTheClientAndLogged(t *testing.T) {
	var log bytes.Buffer
	book := &notebook{}
	st := newStage(t, func(c *Config) {
		c.Actions, c.Log = &Actions{Alarms: book, Who: ada}, slog.New(slog.NewJSONHandler(&log, nil))
	})
	for path, want := range map[string]struct{ wrote, answer, said string }{
		"/api/v1/alarms/ack":   {"ack[7]adaseen", `{"ok":true}`, `"msg":"alarms acknowledged","by":"ada","proven":true,"addr":"192.0.2.1:1234","indices":[7],"comment":"seen"`},
		"/api/v1/alarms/unack": {"unack[7]adanot yet", `{"ok":true}`, `"msg":"acknowledgements withdrawn","by":"ada"`},
		"/api/v1/alarms/close": {"close[] {tokenStuck n* p t s noWorker}adathe pod was deleted", `{"indices":[7],"holding":[9]}`,
			`"msg":"alarms closed","by":"ada","proven":true,"addr":"192.0.2.1:1234","indices":[7],"alarm":"tokenStuck","net":"n*"`},
		"/api/v1/alarms/unsilence": {"unsilenceaada", `{"ok":true}`, `"msg":"silence ended","by":"ada","proven":true,"addr":"192.0.2.1:1234","id":"a"`},
		"/api/v1/alarms/silence": {"silence{tokenStuck n* p t s noWorker} 1m30sadaupgrade", `{"id":"a","from":"2026-09-21T14:13:20.000000Z","until":"2026-09-21T14:14:50.000000Z",` +
			`"by":"ada","comment":"upgrade","alarm":"tokenStuck","net":"n*","place":"p","transition":"t","source":"s","for_reason":"noWorker"}`, `"msg":"alarms silenced","by":"ada"`},
	} {
		book.wrote = nil
		log.Reset()
		w := httptest.NewRecorder()
		st.Handler().ServeHTTP(w, posted(path, changes()[path]))
		if got := strings.TrimSpace(w.Body.String()); w.Code != http.StatusOK || got != want.answer || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s answers %d %s; want %s", path, w.Code, got, want.answer)
		}
		if got := strings.Join(book.wrote, "|"); got != want.wrote {
			t.Errorf("%s: %q; want %q", path, got, want.wrote)
		}
		if !strings.Contains(log.String(), want.said) || strings.Count(log.String(), "\n") != 1 {
			t.Errorf("%s logs %s; want one line with %s", path, log.String(), want.said)
		}
	}
}

func TestChangesThatAreRefused(t *testing.T) {
	const ack = "/api/v1/alarms/ack"
	good := changes()
	for what, c := range map[string]struct {
		path, body string
		change     func(*http.Request, *Config)
		status     int
		why        string
	}{
		"no changes are taken": {ack, good[ack], func(_ *http.Request, c *Config) { c.Actions = nil }, 403, "expected --web.actions"},
		"the client is not known": {ack, good[ack], func(_ *http.Request, c *Config) {
			c.Actions.Who = func(*http.Request) (string, bool, error) { return "", false, errors.New("not you") }
		}, 403, "not you"},
		"a form":                   {ack, "indices=7", func(r *http.Request, _ *Config) { r.Header.Set("Content-Type", "application/x-www-form-urlencoded") }, 415, "application/json"},
		"no type":                  {ack, good[ack], func(r *http.Request, _ *Config) { r.Header.Del("Content-Type") }, 415, "application/json"},
		"GET":                      {ack, "", func(r *http.Request, _ *Config) { r.Method = http.MethodGet }, 405, "only POST"},
		"POST of a document":       {"/api/v1/alarms", "{}", nil, 405, "only GET, HEAD"},
		"no JSON":                  {ack, "{", nil, 400, "invalid body"},
		"an unknown field":         {ack, `{"indexes":[7]}`, nil, 400, "unknown field"},
		"no index":                 {ack, `{"indices":[]}`, nil, 400, "0 indices; expected 1 to 1000"},
		"too many indices":         {ack, `{"indices":[1` + strings.Repeat(",1", maxIndices) + `]}`, nil, 400, "1001 indices"},
		"a large body":             {ack, `{"comment":"` + strings.Repeat("c", maxChange) + `"}`, nil, 400, "more than 65536 bytes"},
		"an alarm that is over":    {ack, `{"indices":[8]}`, nil, 404, "no active alarm"},
		"an alarm that holds":      {"/api/v1/alarms/close", `{"indices":[8]}`, nil, 409, "known to hold"},
		"indices and a selection":  {"/api/v1/alarms/close", `{"indices":[7],"net":"n"}`, nil, 400, "expected one of them"},
		"a silence that is over":   {"/api/v1/alarms/unsilence", `{"id":"b"}`, nil, 404, "no silence"},
		"an unknown kind":          {"/api/v1/alarms/silence", `{"for_seconds":1,"alarm":"stuck"}`, nil, 400, `no kind of alarm is`},
		"a silence of no time":     {"/api/v1/alarms/silence", `{"for_seconds":-1,"net":"n"}`, nil, 400, "invalid note"},
		"a watcher that has ended": {"/api/v1/alarms/unsilence", `{"id":"a"}`, func(_ *http.Request, c *Config) { c.Actions.Alarms = &ended{} }, 503, "deadline"},
	} {
		book := &notebook{}
		r := posted(c.path, c.body)
		st := newStage(t, func(cfg *Config) {
			cfg.Actions = &Actions{Alarms: book, Who: ada}
			if c.change != nil {
				c.change(r, cfg)
			}
		})
		w := httptest.NewRecorder()
		st.Handler().ServeHTTP(w, r)
		if got, _ := object(t, w.Body.Bytes())["error"].(string); w.Code != c.status || !strings.Contains(got, c.why) || book.wrote != nil {
			t.Errorf("%s: %d %q; want %d %q", what, w.Code, got, c.status, c.why)
		}
	}
}

// ended is a Watcher that does not run.
type ended struct{ notebook }

func (*ended) Unsilence(context.Context, string, string) error { return context.DeadlineExceeded }

// A silence of more time than a duration has is refused by the Watcher, not turned round.
func TestALongSilenceStaysLong(t *testing.T) {
	book := &notebook{}
	st := newStage(t, func(c *Config) { c.Actions = &Actions{Alarms: book, Who: ada} })
	w := httptest.NewRecorder()
	st.Handler().ServeHTTP(w, posted("/api/v1/alarms/silence", `{"for_seconds":1e300,"net":"n"}`))
	if w.Code != http.StatusOK || !strings.Contains(strings.Join(book.wrote, ""), "h") {
		t.Errorf("%d, %v", w.Code, book.wrote)
	}
}

func TestASilenceMayBeginLaterAndRecur(t *testing.T) {
	book := &notebook{}
	st := newStage(t, func(c *Config) { c.Actions = &Actions{Alarms: book, Who: ada} })
	w := httptest.NewRecorder()
	st.Handler().ServeHTTP(w, posted("/api/v1/alarms/silence", recurring))
	if want := `"pending":true,"cron":"0 2 * * sat","zone":"Europe/Berlin"`; w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
		t.Errorf("%d, %s; want %s", w.Code, w.Body.String(), want)
	}
	if got := strings.Join(book.wrote, ""); !strings.Contains(got, "1790035200000000 1798761600000000 {0 2 * * sat Europe/Berlin 0s}") {
		t.Errorf("the watcher was asked for %s", got)
	}
}

func FuzzChange(f *testing.F) {
	st := newStage(f, func(c *Config) { c.Actions = &Actions{Alarms: &notebook{}, Who: ada} })
	for path, body := range changes() {
		f.Add(path, body)
	}
	f.Fuzz(func(t *testing.T, path, body string) {
		r := posted("/", body)
		r.URL.Path = path
		w := httptest.NewRecorder()
		st.Handler().ServeHTTP(w, r)
		if !json.Valid(w.Body.Bytes()) || w.Code == http.StatusInternalServerError {
			t.Errorf("got status %d, %q; want JSON, and no fault of the server", w.Code, w.Body)
		}
	})
}

func TestTheOverviewHasSilencesAndNotes(t *testing.T) {
	st := newStage(t, func(c *Config) { c.Actions = &Actions{Alarms: &notebook{}, Who: ada} })
	st.alarms = &alarm.ActiveSet{Active: []alarm.Alarm{{Index: 7, Kind: alarm.TokenStuck, Net: "orders", Subject: "due", Severity: alarm.Critical,
		Ack: &alarm.Ack{At: t0, By: "ada", Comment: "seen"}, SilencedUntil: t0 + 60e6}},
		Silences: []alarm.Silence{{ID: "a", From: t0, Until: t0 + 60e6, By: "eve", Selection: alarm.Selection{Net: "*"}}}}
	st.show(orders())
	doc := st.document(t, "/api/v1/overview")
	a, _ := doc["alarms"].([]any)[0].(map[string]any)
	equal(t, map[string]any{"silences": doc["silences"], "actions": doc["actions"], "severity": a["severity"], "ack": a["acknowledged"], "until": a["silenced_until"]},
		`{"silences":[{"id":"a","from":"2026-09-21T14:13:20.000000Z","until":"2026-09-21T14:14:20.000000Z","by":"eve","net":"*"}],"actions":true,"severity":"critical",
		"ack":{"at":"2026-09-21T14:13:20.000000Z","by":"ada","comment":"seen"},"until":"2026-09-21T14:14:20.000000Z"}`)
}
