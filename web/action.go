// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"time"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/web/api"
)

// Actions are the changes that a client may make.
type Actions struct {
	Alarms Alarms
	Act    Act // nil if no client can act on instances
	// Who returns the name of the client of a request, and whether the client proved it.
	// An error refuses the request.
	Who func(*http.Request) (name string, proven bool, err error)
}

// Alarms takes the notes of operators. It is a watch.Watcher.
type Alarms interface {
	Acknowledge(ctx context.Context, indices []uint32, by, comment string) error
	Unacknowledge(ctx context.Context, indices []uint32, by, comment string) error
	Close(ctx context.Context, indices []uint32, of alarm.Selection, by, comment string) (alarm.Closed, error)
	Silence(ctx context.Context, s alarm.Silence, length time.Duration) (alarm.Silence, error)
	Unsilence(ctx context.Context, id, by string) error
}

const (
	// maxChange bounds the body of a request, in bytes.
	maxChange = 64 << 10
	// maxIndices is how many alarms a request may acknowledge.
	maxIndices = 1000
)

// errBody is wrapped by the error of a body that is not valid.
var errBody = errors.New("invalid body")

// change is one request for a change.
type change struct {
	ctx    context.Context
	to     Alarms
	do     Act
	def    func(net string) *petri.Net // nil if there is no such net
	by     string
	proven bool
	body   io.Reader
}

// made is a change that was made: the answer, and what the log says.
type made struct {
	answer any
	said   string
	about  []any // keys and values
	tried  bool  // it is logged, also if it failed
}

// action returns the handler of a path that changes something, or nil.
func (s *Server) action(path string) http.HandlerFunc {
	do, ok := map[string]func(*change) (made, error){
		"/api/v1/alarms/ack":       func(c *change) (made, error) { return c.acknowledge(c.to.Acknowledge, "alarms acknowledged") },
		"/api/v1/alarms/unack":     func(c *change) (made, error) { return c.acknowledge(c.to.Unacknowledge, "acknowledgements withdrawn") },
		"/api/v1/alarms/close":     (*change).close,
		"/api/v1/alarms/silence":   (*change).silence,
		"/api/v1/alarms/unsilence": (*change).unsilence,
		actPath:                    (*change).act,
	}[path]
	if !ok {
		return nil
	}
	within := requestTimeout
	if path == actPath {
		within = actTimeout
	}
	return func(w http.ResponseWriter, r *http.Request) { s.serveAction(w, r, within, do) }
}

// serveAction makes a change, and logs who asked for it.
func (s *Server) serveAction(w http.ResponseWriter, r *http.Request, within time.Duration, do func(*change) (made, error)) {
	if s.cfg.Actions == nil {
		refuse(w, http.StatusForbidden, "this sidecar takes no changes; expected --web.actions")
		return
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, "expected a body of the type application/json")
		return
	}
	by, proven, err := s.cfg.Actions.Who(r)
	if err != nil {
		refuse(w, http.StatusForbidden, err.Error())
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), within)
	defer cancel()
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.cfg.WriteTimeout + within)) // see limited
	m, err := do(&change{ctx: ctx, to: s.cfg.Actions.Alarms, do: s.cfg.Actions.Act, def: s.defOf, by: by, proven: proven, body: r.Body})
	if err == nil || m.tried && s.mayLog() {
		s.cfg.Log.Info(m.said, append([]any{"by", by, "proven", proven, "addr", r.RemoteAddr}, m.about...)...)
	}
	if err != nil {
		refuse(w, statusOf(err), err.Error())
		return
	}
	answerJSON(w, m.answer)
}

// mayLog reports whether a change that failed may be logged: a client can send any number.
func (s *Server) mayLog() bool {
	_, ok := s.refusals.Take(time.Now())
	return ok
}

// statusOf returns the status of an error.
func statusOf(err error) int {
	if status := statusOfAct(err); status != 0 {
		return status
	}
	switch {
	case errors.Is(err, alarm.ErrNoAlarm) || errors.Is(err, alarm.ErrNoSilence):
		return http.StatusNotFound
	case errors.Is(err, alarm.ErrHolds):
		return http.StatusConflict
	case errors.Is(err, alarm.ErrNote) || errors.Is(err, errBody):
		return http.StatusBadRequest
	}
	return http.StatusServiceUnavailable
}

// read reads the body into a document without unknown fields.
func (c *change) read(document any) error {
	text, err := io.ReadAll(io.LimitReader(c.body, maxChange+1))
	if err != nil {
		return fmt.Errorf("%w: %w", errBody, err)
	}
	if len(text) > maxChange {
		return fmt.Errorf("%w: more than %d bytes", errBody, maxChange)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(document); err != nil {
		return fmt.Errorf("%w: %w", errBody, err)
	}
	return nil
}

func (c *change) acknowledge(do func(ctx context.Context, indices []uint32, by, comment string) error, said string) (made, error) {
	var a api.Acknowledge
	if err := c.read(&a); err != nil {
		return made{}, err
	}
	if len(a.Indices) == 0 || len(a.Indices) > maxIndices {
		return made{}, fmt.Errorf("%w: %d indices; expected 1 to %d", errBody, len(a.Indices), maxIndices)
	}
	err := do(c.ctx, a.Indices, c.by, a.Comment)
	return made{answer: api.Done{OK: true}, said: said, about: []any{"indices", a.Indices, "comment", a.Comment}}, err
}

// alarmsOf returns what a change of alarms selects.
func alarmsOf(s *api.Selection) (alarm.Selection, error) {
	of := alarm.Selection{Net: s.Net, Place: s.Place, Transition: s.Transition, Source: s.Source}
	if s.ForReason != "" {
		of.ForReason = stats.ReasonNamed(s.ForReason)
		if of.ForReason == stats.ReasonUnknown {
			return of, fmt.Errorf("%w: no reason is %q", errBody, s.ForReason)
		}
	}
	if s.Alarm == "" {
		return of, nil
	}
	kind, ok := alarm.KindNamed(s.Alarm)
	if !ok {
		return of, fmt.Errorf("%w: no kind of alarm is %q", errBody, s.Alarm)
	}
	of.Kind = kind
	return of, nil
}

// about returns what the log says of a selection, after other keys and values.
func about(s *api.Selection, comment string, more ...any) []any {
	return append(more, "alarm", s.Alarm, "net", s.Net, "place", s.Place, "transition", s.Transition, "source", s.Source, "for_reason", s.ForReason, "comment", comment)
}

func (c *change) close() (made, error) {
	var a api.CloseAlarms
	if err := c.read(&a); err != nil {
		return made{}, err
	}
	of, err := alarmsOf(&a.Selection)
	switch {
	case err != nil:
		return made{}, err
	case len(a.Indices) > maxIndices:
		return made{}, fmt.Errorf("%w: %d indices; expected at most %d", errBody, len(a.Indices), maxIndices)
	case len(a.Indices) > 0 && of != (alarm.Selection{}):
		return made{}, fmt.Errorf("%w: indices and a selection; expected one of them", errBody)
	}
	done, err := c.to.Close(c.ctx, a.Indices, of, c.by, a.Comment)
	return made{answer: api.Closed{Indices: orEmpty(done.Indices), Holding: done.Holding}, said: "alarms closed",
		about: about(&a.Selection, a.Comment, "indices", done.Indices)}, err
}

// orEmpty returns a list that JSON has as [] and not as null.
func orEmpty(list []uint32) []uint32 {
	if list == nil {
		return []uint32{}
	}
	return list
}

func (c *change) silence() (made, error) {
	var n api.NewSilence
	if err := c.read(&n); err != nil {
		return made{}, err
	}
	of, err := alarmsOf(&n.Selection)
	if err != nil {
		return made{}, err
	}
	length := time.Duration(min(max(n.For, 0)*float64(time.Second), math.MaxInt64/2))
	s, err := c.to.Silence(c.ctx, alarm.Silence{From: int64(n.From), Until: int64(n.Ends), By: c.by, Comment: n.Comment, Selection: of,
		Recurs: alarm.Recurrence{Cron: n.Cron, Zone: n.Zone}}, length)
	d := silenceDocument(&s)
	return made{answer: d, said: "alarms silenced", about: about(&d.Selection, d.Comment, "id", d.ID, "until", d.Until.Time())}, err
}

func (c *change) unsilence() (made, error) {
	var e api.EndSilence
	if err := c.read(&e); err != nil {
		return made{}, err
	}
	err := c.to.Unsilence(c.ctx, e.ID, c.by)
	return made{answer: api.Done{OK: true}, said: "silence ended", about: []any{"id", e.ID}}, err
}
