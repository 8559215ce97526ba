// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// Serve publishes the engine's snapshots on a connection and takes requests:
//
//   - PREFIX.inject.NET.SOURCE with {"instance":0,"place":"id","tokens":1,"data":{…}}
//   - PREFIX.fire.NET.SOURCE with {"instance":0,"transition":"id","data":{…}},
//     and "scope":1 to fire in that run of the transition's scope: see Engine.FireIn
//
// and, if transitions of its nets throw or catch events:
//
//   - PREFIX.message.NAME.SOURCE with {"key":"text","data":{…}}: see Engine.Message
//   - PREFIX.signal.NAME with {"data":{…}}: see Engine.Signal
//
// For a part of a net it is PART instead of SOURCE: its owner answers, and the
// snapshots are those of the source SOURCE/PART.
//
// data is any JSON, for nets that use it: what the injected tokens carry, or
// the tokens that the firing or the catcher of the event puts. It may be left
// out.
//
// NAME, NET and SOURCE are escaped as by telemetry.Escape. The answer is
// {"ok":true} or {"error":"reason"}; for a message it also has the fields of
// Caught, for a signal {"caught":1}. After {"error":"reason","unknown":true,"key":"text"}
// the request may be done: see UnknownError. With "outcome":"text" a request to
// inject or fire asks an engine with the same journal whether it was; the answer is
// {"ok":true,"done":true} or "done":false.
//
// A signal that a transition throws is published at PREFIX.signal.NAME with
// {"source":"SOURCE"} once its firing is in the journal, so that other engines
// deliver it. They receive it at most once: not if the connection or one of the
// engines fails in between.
//
// Each request and its result is passed to Config.Audit before it is answered, and, if it
// is about a net, published at telemetry.Subjects.Audit.
//
// The returned function publishes a last snapshot and a
// bye; call it after Run has ended and before the connection is closed. An
// engine that worked for less than a second stays for that second, or until the
// function's context ends.
func Serve(e *Engine, nc *nats.Conn, subjects telemetry.Subjects, interval time.Duration, log *slog.Logger) (end func(context.Context) error, err error) {
	rows := func(net int, now int64, into *stats.Rows) error {
		return e.published(context.Background(), net, now, into)
	}
	introduced := time.Now().Add(introduction)
	publisher, err := e.publish(telemetry.Config{Conn: nc, Subjects: subjects, Interval: interval, Log: log, Rows: rows, Oldest: e.oldest, Instance: e.instance, Refused: e.refusals.of, Acts: e.target(), ThreadTimer: e.cfg.ThreadTimer})
	if err != nil {
		return nil, err
	}
	queues, err := e.listen(nc, subjects)
	send := e.sender(nc, subjects, log)
	end = func(ctx context.Context) error {
		if e.cfg.Part == nil {
			stay(ctx, introduced)
		}
		var errs []error
		for _, q := range queues {
			errs = append(errs, q.close(ctx))
		}
		send()
		if e.cfg.Part != nil {
			return errors.Join(append(errs, publisher.Leave(ctx))...)
		}
		return errors.Join(append(errs, publisher.Close(ctx))...)
	}
	if err != nil {
		return nil, errors.Join(err, end(context.Background()))
	}
	return end, nil
}

// publish starts a publisher of the engine's nets.
func (e *Engine) publish(cfg telemetry.Config) (*telemetry.Publisher, error) {
	cfg.Source = e.source()
	if p := e.cfg.Part; p != nil {
		cfg.Region = p.State
	}
	for _, n := range e.cfg.Nets {
		var def bytes.Buffer
		if err := pnml.Write(&def, n.Tables.Net); err != nil {
			return nil, err
		}
		cfg.Nets = append(cfg.Nets, e.described(telemetry.SourceNet{ID: n.Tables.Net.ID, PNML: def.Bytes(), Places: n.Tables.Places(), Transitions: n.Tables.Transitions()}))
	}
	return telemetry.Start(cfg)
}

// introduction is how long an engine answers at least. A collector requests the
// definition of a net when it receives the first snapshot; it could never count
// a net of an engine that has ended by then.
const introduction = time.Second

// stay waits until a time, or until ctx ends.
func stay(ctx context.Context, until time.Time) {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// callTimeout is how long a request may wait for its worker.
const callTimeout = 5 * time.Second

// source returns the name under which the engine publishes.
func (e *Engine) source() string {
	if e.cfg.Part != nil {
		return e.cfg.Source + "/" + e.cfg.Part.Name
	}
	return e.cfg.Source
}

// request executes a request, and writes into an Action what it is about. An Action
// whose Kind it removes is not audited.
type request func(ctx context.Context, m *nats.Msg, a *telemetry.Action) (answer any, err error)

// target returns the name at which the engine takes requests.
func (e *Engine) target() string {
	if e.cfg.Part != nil {
		return e.cfg.Part.Name
	}
	return e.cfg.Source
}

func (e *Engine) listen(nc *nats.Conn, subjects telemetry.Subjects) ([]*requestQueue, error) {
	var queues []*requestQueue
	sizes := map[string]*atomic.Int64{} // of the requests that wait, by kind, bytes
	target, audit := e.target(), &telemetry.Auditor{Conn: nc, Subjects: subjects, Write: e.cfg.Audit, Log: e.cfg.Log}
	subscribe := func(net int, kind, suffix string, do request) error {
		if sizes[kind] == nil {
			sizes[kind] = new(atomic.Int64)
		}
		refused := func(reason int) {
			e.refusals.count(net, reason)
			if reason == stats.RefusedSize && kind != "inject" && kind != "fire" {
				e.eventCounts.refused(refusedInvalid)
			}
		}
		queue, err := newRequestQueue(nc, subjects.Prefix()+"."+kind+suffix, sizes[kind], refused, func(m *nats.Msg) {
			ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
			defer cancel()
			a := telemetry.Action{Kind: kind, Source: e.source(), Who: telemetry.WhoOf(m)}
			answer, err := do(ctx, m, &a)
			keep(audit, &a, err)
			if e.cfg.Part == nil || !errors.As(err, new(unsettled)) { // otherwise the next owner may answer, or the outcome is unknown
				respond(m, answer, err)
			}
		})
		if err != nil {
			return fmt.Errorf("subscribing to requests to %s: %w", kind, err)
		}
		queues = append(queues, queue)
		return nil
	}
	for k, n := range e.cfg.Nets {
		id := n.Tables.Net.ID
		suffix := "." + telemetry.Escape(id) + "." + telemetry.Escape(target)
		for kind, do := range map[string]func(context.Context, *telemetry.Action, []byte) error{"inject": e.requestInject, "fire": e.requestFire} {
			one := func(ctx context.Context, m *nats.Msg, a *telemetry.Action) (any, error) {
				a.Net = id
				if key, ok := asksFor(m.Data); ok {
					a.Kind = "" // nothing is done
					done, err := e.Outcome(ctx, key)
					return asked{okay{true}, done}, err
				}
				return okay{true}, do(ctx, a, m.Data)
			}
			if err := subscribe(k, kind, suffix, one); err != nil {
				return queues, err
			}
		}
	}
	if e.workers[0].events == nil {
		return queues, nil
	}
	err := subscribe(0, "message", ".*."+telemetry.Escape(target), e.forEvent(subjects.Prefix(), e.requestMessage))
	if err == nil {
		err = subscribe(0, "signal", ".*", e.forEvent(subjects.Prefix(), e.requestSignal))
	}
	return queues, err
}

// okay is the answer to a request that was done.
type okay struct {
	OK bool `json:"ok"`
}

// asked is the answer to a question about an earlier request.
type asked struct {
	okay
	Done bool `json:"done"`
}

// asksFor returns the key of the request that a request asks about. Other fields are
// those of that request, and are ignored.
func asksFor(body []byte) (key string, ok bool) {
	var r struct {
		Outcome *string `json:"outcome"`
	}
	if json.Unmarshal(body, &r) != nil || r.Outcome == nil {
		return "", false
	}
	return *r.Outcome, true
}

// refusal is the answer to a request that was not done.
type refusal struct {
	Error     string `json:"error"`
	Elsewhere bool   `json:"elsewhere,omitempty"` // another part of the net has the place or transition
	Unknown   bool   `json:"unknown,omitempty"`   // it was executed, and may have been lost
	Key       string `json:"key,omitempty"`       // to ask later for the outcome
}

// refusalOf returns the answer for an error.
func refusalOf(err error) refusal {
	out := refusal{Error: Public(err), Elsewhere: errors.Is(err, plain.ErrElsewhere), Unknown: errors.Is(err, ErrUnknown)}
	if u := (*UnknownError)(nil); errors.As(err, &u) {
		out.Key = u.Key
	}
	return out
}

// respond answers a request if an answer is wanted. A failure is ignored: the
// client may have gone.
func respond(m *nats.Msg, what any, failed error) {
	if failed != nil {
		what = refusalOf(failed)
	}
	answer, _ := json.Marshal(what) // strings and numbers always marshal
	if m.Reply != "" {
		_ = m.Respond(answer)
	}
}

func decodeRequest(body []byte, into any, form string) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		return nil
	}
	wrong := (*json.UnmarshalTypeError)(nil)
	switch {
	case !errors.As(err, &wrong):
		return fmt.Errorf("%s; expected %s", strings.TrimPrefix(err.Error(), "json: "), form)
	case wrong.Field == "":
		return fmt.Errorf("found %s; expected %s", wrong.Value, form)
	}
	return fmt.Errorf("field %q: found %s; expected %s, as in %s", wrong.Field, wrong.Value, kindOf(wrong.Type), form)
}

// kindOf returns what JSON must have for a Go type.
func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Uint32, reflect.Uint64:
		return "a whole number of 0 or more"
	}
	return "another value"
}

// dataOf returns the data of tokens. null is none, like a field that is left out.
func dataOf(field json.RawMessage) []byte {
	if string(field) == "null" {
		return nil
	}
	return field
}

// instance is an instance in a request: its number, or the name that
// InstanceName gives it.
type instance json.RawMessage

// UnmarshalJSON implements json.Unmarshaler.
func (i *instance) UnmarshalJSON(text []byte) error {
	*i = bytes.Clone(text)
	return nil
}

// number returns the number of the instance; 0 where the request names none.
func (i instance) number(e *Engine) (n int, err error) {
	if len(i) == 0 {
		return 0, nil
	}
	var name string
	if json.Unmarshal(i, &name) == nil {
		return e.number(name)
	}
	if err := json.Unmarshal(i, &n); err != nil {
		return 0, fmt.Errorf("instance %s; expected a number, or a name such as %q", i, e.InstanceName(0))
	}
	return n, nil
}

func (e *Engine) requestInject(ctx context.Context, a *telemetry.Action, body []byte) error {
	r := struct {
		Instance instance `json:"instance"`
		Place    string   `json:"place"`
		Tokens   uint64   `json:"tokens"`

		Data json.RawMessage `json:"data"`
	}{Tokens: 1}
	if err := decodeRequest(body, &r, `{"instance":0,"place":"id","tokens":1,"data":{}}`); err != nil {
		return err
	}
	a.Place, a.Tokens = r.Place, r.Tokens
	number, err := r.Instance.number(e)
	if err != nil {
		return err
	}
	a.Instance = e.InstanceName(number)
	if k, ok := e.nets[a.Net]; ok && r.Tokens > uint64(e.cfg.InjectTokens) {
		return e.tooManyTokens(k, r.Place, r.Tokens)
	}
	return e.InjectData(ctx, a.Net, number, r.Place, uint32(r.Tokens), dataOf(r.Data))
}

func (e *Engine) requestFire(ctx context.Context, a *telemetry.Action, body []byte) error {
	var r struct {
		Instance   instance `json:"instance"`
		Transition string   `json:"transition"`
		Scope      *uint32  `json:"scope"`

		Data json.RawMessage `json:"data"`
	}
	if err := decodeRequest(body, &r, `{"instance":0,"transition":"id","data":{}}`); err != nil {
		return err
	}
	a.Transition = r.Transition
	number, err := r.Instance.number(e)
	if err != nil {
		return err
	}
	a.Instance = e.InstanceName(number)
	if r.Scope != nil {
		return e.FireIn(ctx, a.Net, number, r.Transition, *r.Scope, dataOf(r.Data))
	}
	return e.FireData(ctx, a.Net, number, r.Transition, dataOf(r.Data))
}
