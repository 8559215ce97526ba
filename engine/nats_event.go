// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/telemetry"
)

// requestMessage delivers a message from outside.
func (e *Engine) requestMessage(ctx context.Context, a *telemetry.Action, body []byte) (any, error) {
	var r struct {
		Key  json.RawMessage `json:"key"`
		Data json.RawMessage `json:"data"`
	}
	if err := e.decodeEvent(body, &r, `{"key":"text","data":{}}`); err != nil {
		return nil, err
	}
	key, err := keyText(r.Key)
	if err != nil {
		e.eventCounts.refused(refusedInvalid)
		return nil, err
	}
	where, err := e.Message(ctx, a.Event, key, dataOf(r.Data))
	a.Net, a.Instance, a.Transition = where.Net, where.Instance, where.Transition
	return struct {
		okay
		Caught
	}{okay{true}, where}, err
}

// signalRequest is a signal, from outside or from the engine that is its source.
type signalRequest struct {
	Source string          `json:"source,omitempty"`
	Data   json.RawMessage `json:"data,omitempty"`
}

// requestSignal delivers a signal from outside. Those that this engine has sent
// were delivered when they were thrown.
func (e *Engine) requestSignal(ctx context.Context, a *telemetry.Action, body []byte) (any, error) {
	var r signalRequest
	err := e.decodeEvent(body, &r, `{"data":{}}`)
	switch {
	case err != nil:
		return nil, err
	case r.Source == e.cfg.Source:
		a.Kind = "" // nothing is done
		return okay{true}, nil
	}
	if r.Source != "" && a.By == "" {
		a.By = "source " + r.Source
	}
	caught, err := e.Signal(ctx, a.Event, dataOf(r.Data))
	return struct {
		okay
		Caught int `json:"caught"`
	}{okay{true}, caught}, err
}

// forEvent returns the answers to requests whose third token behind the prefix of
// subjects is the name of an event. Their body may be empty.
func (e *Engine) forEvent(prefix string, do func(ctx context.Context, a *telemetry.Action, body []byte) (any, error)) request {
	return func(ctx context.Context, m *nats.Msg, a *telemetry.Action) (any, error) {
		name, err := telemetry.Unescape(strings.Split(m.Subject[len(prefix)+1:], ".")[1])
		if err != nil {
			e.eventCounts.refused(refusedInvalid)
			return nil, err
		}
		body := bytes.TrimSpace(m.Data)
		if len(body) == 0 {
			body = []byte("{}")
		}
		a.Event = name
		return do(ctx, a, body)
	}
}

// decodeEvent is decodeRequest that counts what it refuses.
func (e *Engine) decodeEvent(body []byte, into any, form string) error {
	err := decodeRequest(body, into, form)
	if err != nil {
		e.eventCounts.refused(refusedInvalid)
	}
	return err
}

// sender sends signals to other engines until the returned function is called,
// which sends those that are left.
func (e *Engine) sender(nc *nats.Conn, subjects telemetry.Subjects, log *slog.Logger) (end func()) {
	e.outbox.take()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	send := func(ctx context.Context) {
		names := e.outbox.take()
		if len(names) == 0 {
			return
		}
		body, err := json.Marshal(signalRequest{Source: e.cfg.Source})
		err = errors.Join(err, e.recorder.confirm(ctx))
		for _, name := range names {
			if err == nil {
				err = nc.Publish(subjects.Prefix()+".signal."+telemetry.Escape(name), body)
			}
			if err != nil {
				e.eventCounts.refused(refusedNotSent)
			}
		}
		if err != nil {
			log.Warn("signals not sent to other engines", "err", err)
		}
	}
	running.Go(func() {
		for {
			select {
			case <-e.outbox.some:
				send(ctx)
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		cancel()
		running.Wait()
		last, stop := context.WithTimeout(context.Background(), callTimeout)
		defer stop()
		send(last)
	}
}
