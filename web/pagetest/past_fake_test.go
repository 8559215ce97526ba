// SPDX-License-Identifier: Apache-2.0

//go:build peers

package pagetest

import (
	"io"
	"maps"
	"net/http"
	"slices"
	"time"
)

// past is what the fake keeps.
type past struct {
	from    func(now time.Time) time.Time // the first moment of the history
	at      func(at time.Time) time.Time  // the newest moment at or before; zero for none
	archive time.Duration                 // how far an archive reaches; 0 for none
	none    map[string]bool               // overview or history of which nothing is kept
	cleared []map[string]any              // alarms that are over, each with the time that it was cleared as "until"
	gate    func(r *http.Request)         // called before a request is answered; nil for none
	frame   func(doc map[string]any)      // changes a frame of the past; nil for nothing
	seldom  map[string]time.Duration      // overview or history that is kept at multiples of it only
	failed  string                        // why the archive does not answer; "" if it does
}

// lastHour keeps every moment of the last hour.
func lastHour() past {
	return past{
		from: func(now time.Time) time.Time { return now.Add(-time.Hour) },
		at:   func(at time.Time) time.Time { return at },
	}
}

// wait holds a request back as long as the test wants.
func (f *fake) wait(r *http.Request) {
	f.mu.Lock()
	gate := f.past.gate
	f.mu.Unlock()
	if gate != nil {
		gate(r)
	}
}

// kept returns the moment of the past that answers a request, false where there is none.
func (f *fake) kept(r *http.Request, what string) (at time.Time, archive, ok bool) {
	asked, err := time.Parse(time.RFC3339, r.URL.Query().Get("at"))
	if err != nil || f.past.none[what] {
		return at, false, false
	}
	at = f.past.at(asked)
	if step := f.past.seldom[what]; step > 0 {
		at = at.Truncate(step)
	}
	first := f.past.from(time.Now())
	archive = at.Before(first)
	if archive && f.past.archive > 0 {
		first = time.Now().Add(-f.past.archive)
	}
	return at, archive, !at.IsZero() && !at.Before(first)
}

// overviewOf answers with the overview of now or of a moment.
func (f *fake) overviewOf(w http.ResponseWriter, r *http.Request) {
	if !r.URL.Query().Has("at") {
		answer(w, f.overview(1))
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	at, archive, ok := f.kept(r, "overview")
	if archive && f.past.failed != "" {
		f.away(w)
		return
	}
	if !ok {
		answer(w, nil)
		return
	}
	active := []map[string]any{}
	for _, a := range slices.Concat(f.past.cleared, f.alarms) {
		since, _ := time.Parse(time.RFC3339, a["since"].(string))
		until, err := time.Parse(time.RFC3339, str(a["until"]))
		if !since.After(at) && (err != nil || until.After(at)) {
			active = append(active, a)
		}
	}
	doc := f.document(0, at, active)
	if archive {
		doc["archive"] = true
	}
	if f.alterPast != nil {
		f.alterPast(doc)
	}
	answer(w, doc)
}

// cleared answers with the alarms that are over.
func (f *fake) cleared(w http.ResponseWriter, _ *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := []map[string]any{}
	for _, a := range f.past.cleared {
		a = maps.Clone(a)
		a["cleared"] = a["until"]
		list = append(list, a)
	}
	answer(w, map[string]any{"cleared": list})
}

// history answers with the frame of a moment.
func (f *fake) history(w http.ResponseWriter, r *http.Request) {
	s := f.net(r.URL.Query().Get("net"))
	f.mu.Lock()
	defer f.mu.Unlock()
	at, archive, ok := f.kept(r, "history")
	if archive && f.past.failed != "" {
		f.away(w)
		return
	}
	if s == nil || !ok {
		answer(w, nil)
		return
	}
	doc := s.frame(0, at.UnixMilli())
	if f.past.frame != nil {
		f.past.frame(doc)
	}
	if archive {
		doc["archive"] = true
	}
	answer(w, doc)
}

// away answers for an archive that does not.
func (f *fake) away(w http.ResponseWriter) {
	w.WriteHeader(http.StatusBadGateway)
	_, _ = io.WriteString(w, `{"error":"`+f.past.failed+`"}`) // fails only if the client is gone
}

func str(v any) string {
	s, _ := v.(string) // "" for none
	return s
}
