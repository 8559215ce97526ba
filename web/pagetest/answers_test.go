// SPDX-License-Identifier: Apache-2.0

//go:build peers

package pagetest

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pnagent/pnagent/act"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/web/api"
)

func moment(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339Nano) }

// drawn is the drawing of the net, or of what is around a node.
func drawn(s *scripted, r *http.Request) any {
	q := r.URL.Query()
	id := q.Get("place") + q.Get("transition")
	if id == "" {
		if q.Has("upright") {
			return s.upright
		}
		return s.drawing
	}
	near := map[string]bool{id: true}
	for steps, _ := strconv.Atoi(q.Get("steps")); steps > 0; steps-- {
		from := maps.Clone(near)
		for _, a := range s.def.Arcs {
			if from[a.Source] || from[a.Target] {
				near[a.Source], near[a.Target] = true, true
			}
		}
	}
	def := *s.def
	def.Places = slices.DeleteFunc(slices.Clone(def.Places), func(p petri.Place) bool { return !near[p.ID] })
	def.Transitions = slices.DeleteFunc(slices.Clone(def.Transitions), func(t petri.Transition) bool { return !near[t.ID] })
	def.Arcs = slices.DeleteFunc(slices.Clone(def.Arcs), func(a petri.Arc) bool { return !near[a.Source] || !near[a.Target] })
	part := newScripted(&def, "", s.since)
	part.drawing["hash"] = s.drawing["hash"]
	return part.drawing
}

func waits(s *scripted) []map[string]any {
	return []map[string]any{{"transition": "clarify", "reason": "manual", "text": "waits to be fired from outside"}, {"transition": s.def.Transitions[0].ID, "reason": "guarded", "text": "the guard is false: accounting must clear it"}}
}

// spread is a histogram of durations.
func spread() map[string]any {
	buckets := [][2]float64{}
	upper := 0.004
	for i := range 30 {
		buckets = append(buckets, [2]float64{upper, float64((i*i*(30-i))/20 + i%3)})
		upper *= 1.5
	}
	return map[string]any{"count": 48213, "mean": 12.3, "p50": 4.1, "p95": 61.0, "p99": 640.0, "buckets": buckets}
}

func series(of func(at int64) row) map[string]any {
	points, now := []row{}, time.Now().UnixMilli()
	for at := now - 60*minute; at <= now; at += 10_000 {
		points = append(points, append(row{at}, of(at)...))
	}
	return map[string]any{"step": 10, "points": points}
}

func place(s *scripted, r *http.Request) any {
	id, now := r.URL.Query().Get("place"), time.Now().UnixMilli()
	for i := range s.def.Places {
		if s.def.Places[i].ID != id {
			continue
		}
		doc := map[string]any{"id": id, "name": s.def.Places[i].Name, "series": map[string]any{"step": 10, "points": []row{}}}
		if s.unknown {
			return doc
		}
		history := series(func(at int64) row {
			past := s.place(i, at)
			if oldest, ok := past[1].(int64); ok && oldest > 0 {
				return row{past[0], float64(at-oldest) / 1000}
			}
			return row{past[0], 0}
		})
		if at, err := time.Parse(time.RFC3339, r.URL.Query().Get("at")); err == nil { // what is known of then
			return map[string]any{"id": id, "name": s.def.Places[i].Name, "at": moment(at.UnixMilli()), "stuck": stuckThen(s, i, at.UnixMilli()), "series": history}
		}
		p := s.place(i, now)
		doc["tokens"] = p[0]
		doc["instances"] = p[2]
		doc["arrivals"] = 48216
		doc["departures"] = 48213
		doc["dwell"] = spread()
		doc["stuck"] = []map[string]any{}
		doc["series"] = history
		doc["older_than"] = ladder(now, p)
		if i == s.stuck {
			tokens := []map[string]any{}
			for k, name := range s.instances {
				injected := s.since + int64(k)*7*minute
				tokens = append(tokens, map[string]any{"instance": name, "injected": moment(injected), "age_seconds": float64(now-injected) / 1000, "waits": waits(s)})
			}
			doc["commands"] = []string{act.Line(act.Fire, s.def.ID, s.instances[0], "clarify", 0)}
			doc["acts"] = []map[string]any{{"verb": "fire", "net": s.def.ID, "instance": s.instances[0], "transition": "clarify"}}
			dead := map[string]any{"instance": "berlin/customer 4711", "injected": moment(now - 5000), "age_seconds": 5, "waits": []map[string]any{{"transition": "clarify", "reason": "noWorker", "text": "held by clerk 3 (no worker that is alive takes it)"}}}
			doc["reasons"] = []map[string]any{{"reason": "manual", "tokens": 12, "oldest": tokens[0]}, {"reason": "noWorker", "tokens": 1, "oldest": dead}}
			doc["stuck"], doc["oldest_age_seconds"], doc["mean_age_seconds"] = tokens, float64(now-s.since)/1000, float64(now-s.since)/1500
		}
		return doc
	}
	return nil
}

// stuckThen are the tokens that were in a place at a moment, without what they waited for.
func stuckThen(s *scripted, place int, at int64) []map[string]any {
	tokens := []map[string]any{}
	for k, name := range s.instances {
		if injected := s.since + int64(k)*7*minute; place == s.stuck && injected <= at {
			tokens = append(tokens, map[string]any{"instance": name, "injected": moment(injected), "age_seconds": float64(at-injected) / 1000})
		}
	}
	return tokens
}

// stuck is a page of 120 instances.
func stuck(s *scripted, r *http.Request) any {
	q, now := r.URL.Query(), time.Now().UnixMilli()
	tokens, from := []map[string]any{}, 0
	_, _ = fmt.Sscan(q.Get("after"), &from) // 0 for the first page
	var all []map[string]any
	for i := range 120 {
		injected := s.since + int64(i)*10_000
		name := fmt.Sprintf("berlin/customer %03d", i)
		if older, err := strconv.ParseFloat(q.Get("older"), 64); err == nil && float64(now-injected) < older*1000 || !strings.Contains(name, q.Get("name")) || !strings.Contains(fmt.Sprintf("order=A-%03d", i), q.Get("data")) {
			continue
		}
		all = append(all, map[string]any{"instance": name, "place": s.def.Places[s.stuck].ID, "source": "berlin", "tokens": 1, "injected": moment(injected), "age_seconds": float64(now-injected) / 1000,
			"data": map[string]any{"order": fmt.Sprintf("A-%03d", i), "amount": 12.5, "note": "<b>paid twice?</b>"}, "waits": []map[string]any{{"transition": "clarify", "reason": "delayed", "text": "waits until its time has come", "until": moment(now + 3*minute)}}})
	}
	doc := map[string]any{"matches": len(all), "unanswered": []string{"osaka"}}
	for i := from; i < min(from+50, len(all)); i++ {
		tokens = append(tokens, all[i])
	}
	doc["tokens"] = tokens
	if from+50 < len(all) {
		doc["next"] = fmt.Sprint(from + 50)
	}
	return doc
}

// ladder is how many tokens are older than each step.
func ladder(now int64, p row) *api.OlderThan {
	var out [8]uint64
	oldest, _ := p[1].(int64)
	for i, seconds := range []int64{1, 10, 60, 600, 3600, 6 * 3600, 86400, 7 * 86400} {
		if oldest != 0 && now-oldest > seconds*1000 {
			out[i] = reflect.ValueOf(p[0]).Convert(reflect.TypeFor[uint64]()).Uint()
		}
	}
	return &api.OlderThan{S1: out[0], S10: out[1], M1: out[2], M10: out[3], H1: out[4], H6: out[5], D1: out[6], D7: out[7]}
}

func transition(s *scripted, r *http.Request) any {
	id, now := r.URL.Query().Get("transition"), time.Now().UnixMilli()
	for i := range s.def.Transitions {
		if s.def.Transitions[i].ID != id {
			continue
		}
		t := s.transition(i, now)
		doc := map[string]any{"id": id, "name": s.def.Transitions[i].Name, "firings": 9182, "rate": t[0], "enabled": t[1], "enabled_age_seconds": 12.5,
			"running": t[3], "failures": t[5], "retries": 1, "cancels": 0, "last_firing": moment(now - 2500), "duration": spread(), "blocks": []map[string]any{},
			"series": series(func(at int64) row { return row{2 + float64(at/60_000%5), at / 30_000 % 3} })}
		if i%4 == 3 {
			doc["blocks"] = []map[string]any{{"place": s.def.Places[0].ID, "reason": "missing", "instances": 12, "text": "short of 1 token in " + s.def.Places[0].Name}}
		}
		return doc
	}
	return nil
}

func instance(s *scripted, r *http.Request) any {
	name, now := r.URL.Query().Get("instance"), time.Now().UnixMilli()
	doc := map[string]any{"instance": name, "seen": []map[string]any{}}
	if name != s.instances[0] {
		doc["unanswered"] = "no engine has it"
		return doc
	}
	stuck := s.def.Places[s.stuck].ID
	doc["now"] = []map[string]any{{"place": stuck, "tokens": 1, "injected": moment(s.since), "age_seconds": float64(now-s.since) / 1000, "waits": waits(s)}}
	doc["commands"] = []string{act.Line(act.Fire, s.def.ID, name, "clarify", 0), act.Line(act.Inject, s.def.ID, name, stuck, 3)}
	doc["actions"] = []map[string]any{{"at": moment(now - minute), "source": "berlin", "kind": "inject", "by": "kim@desk", "comment": "by mail", "place": stuck, "tokens": 3, "error": "too many"},
		{"at": moment(now - 2*minute), "source": "berlin", "kind": "fire", "transition": "clarify", "ok": true}}
	doc["seen"] = []map[string]any{
		{"place": s.def.Places[1].ID, "injected": moment(s.since - 9*minute), "first_seen": moment(s.since - 8*minute), "last_seen": moment(s.since - minute), "gone": true},
		{"place": stuck, "injected": moment(s.since), "first_seen": moment(s.since + minute), "last_seen": moment(now), "gone": false, "waits": waits(s)},
	}
	return doc
}

// trends answers with the age of what is stuck in each net, over the last hour.
func (f *fake) trends(w http.ResponseWriter, _ *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now, nets := time.Now().UnixMilli(), []map[string]any{}
	for _, s := range f.nets {
		points := [][]float64{}
		for at := now - 60*minute; at <= now; at += minute {
			points = append(points, []float64{float64(at), float64(max(0, at-s.since)) / 1000})
		}
		nets = append(nets, map[string]any{"net": s.def.ID, "points": points})
	}
	answer(w, map[string]any{"step": 5, "nets": nets})
}

// search answers with the places of all nets whose name has the text, and instances.
func (f *fake) search(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	query, found := strings.ToLower(r.URL.Query().Get("q")), []map[string]any{}
	for _, s := range f.nets {
		add := func(kind, id, name string) {
			if strings.Contains(strings.ToLower(id+" "+name), query) && len(found) < 20 {
				found = append(found, map[string]any{"kind": kind, "net": s.def.ID, "net_name": s.def.Name, "id": id, "name": name})
			}
		}
		for i := range s.def.Places {
			add("place", s.def.Places[i].ID, s.def.Places[i].Name)
		}
		for _, name := range s.instances {
			add("instance", name, "")
		}
	}
	answer(w, map[string]any{"matches": found})
}
