// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/pnagent/pnagent/internal/plaintext"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// ErrNoInstance reports that a source does not have the requested instance.
var ErrNoInstance = errors.New("no such instance")

// MaxHeld is the largest number of InstanceTokens in an Instance.
const MaxHeld = 1000

// MaxCommand is the largest InstanceWait.Command, in bytes.
const MaxCommand = 2 << 10

// Instance is the content of one instance of a net, as of At. It holds ids of
// places and transitions, so it can be read without the definition.
type Instance struct {
	Instance string          `json:"instance"`
	At       int64           `json:"at"` // by the source's clock, as all times here, in microseconds since the Unix epoch
	Tokens   []InstanceToken `json:"tokens"`
	LeftOut  uint64          `json:"left_out,omitempty"` // tokens that did not fit
	Acts     string          `json:"acts,omitempty"`     // see Config
	Verbs    []string        `json:"verbs,omitempty"`    // see Config
	Tool     string          `json:"tool,omitempty"`     // see Config
}

// InstanceToken is one or more tokens of a place that were injected at one time
// and wait for the same conditions.
type InstanceToken struct {
	Place    string         `json:"place"`
	Tokens   uint64         `json:"tokens"`
	Injected int64          `json:"injected"`
	Waits    []InstanceWait `json:"waits,omitempty"`
	// Data is what the source publishes of the data of the tokens: an object of at most
	// stats.MaxData bytes.
	Data json.RawMessage `json:"data,omitempty"`
}

// InstanceWait is what one output transition of the place waits for. See
// stats.Wait.
type InstanceWait struct {
	Transition string `json:"transition"`
	Reason     string `json:"reason"` // a name of stats.Reason
	Place      string `json:"place,omitempty"`
	Count      uint32 `json:"count,omitempty"`
	Until      int64  `json:"until,omitempty"`
	What       string `json:"what,omitempty"`
	Command    string `json:"command,omitempty"` // line of a shell that helps, by the engine's own tool, of a source that takes no requests
}

// NewInstanceWait returns a wait with the ids of a net.
func NewInstanceWait(net *petri.Net, w stats.Wait) InstanceWait {
	out := InstanceWait{Transition: net.Transitions[w.Transition].ID, Reason: w.Reason.String(), Count: w.Count, Until: w.Until, What: w.What}
	if w.Place != stats.NoPlace {
		out.Place = net.Places[w.Place].ID
	}
	return out
}

// instance answers a request for one instance.
func (p *Publisher) instance(net int, name string) (reply []byte, code string, err error) {
	if p.cfg.Instance == nil {
		return nil, "501", errors.New("this source does not report single instances")
	}
	if len(name) > MaxName {
		return nil, "400", fmt.Errorf("name of %d bytes, of at most %d", len(name), MaxName)
	}
	found, err := p.cfg.Instance(net, name)
	switch {
	case errors.Is(err, ErrNoInstance):
		return nil, "404", err
	case err != nil:
		return nil, "500", err
	}
	found.Acts, found.Verbs, found.Tool = p.cfg.Acts, p.cfg.Verbs, p.cfg.Tool
	limit := p.wire.limit() - replyOverhead
	found.bound(MaxHeld)
	for {
		if reply, err = json.Marshal(found); err != nil {
			return nil, "500", err
		}
		if len(reply) <= limit {
			return reply, "", nil
		}
		found.bound(len(found.Tokens) / 2)
	}
}

// bound leaves out the tokens after the first n rows.
func (i *Instance) bound(n int) {
	for _, t := range i.Tokens[min(n, len(i.Tokens)):] {
		i.LeftOut += t.Tokens
	}
	i.Tokens = i.Tokens[:min(n, len(i.Tokens))]
}

// AskInstance requests the content of an instance of a net from a source. The
// error wraps ErrNoInstance if the source does not have it. An engine of an
// older version returns an error as well.
func AskInstance(ctx context.Context, nc *nats.Conn, subjects Subjects, net, source, instance string) (*Instance, error) {
	answer, err := request(ctx, nc, subjects.Instances(net, source), map[string]string{"instance": instance}, ErrNoInstance)
	if err != nil {
		return nil, fmt.Errorf("asking %s about an instance: %w", source, err)
	}
	found, err := readInstance(answer)
	if err != nil {
		return nil, fmt.Errorf("answer of %s about an instance: %w", source, err)
	}
	return found, nil
}

// request sends a request and returns its answer. The error wraps notFound, unless that
// is nil, if the source answers with code 404.
func request(ctx context.Context, nc *nats.Conn, subject string, what any, notFound error) ([]byte, error) {
	body, err := json.Marshal(what)
	if err != nil {
		return nil, err
	}
	m, err := nc.RequestWithContext(ctx, subject, body)
	if err != nil {
		return nil, err
	}
	reason := stats.Clip(m.Header.Get(micro.ErrorHeader), stats.MaxWhat)
	switch code := m.Header.Get(micro.ErrorCodeHeader); {
	case code == "404" && notFound != nil:
		if reason = strings.TrimPrefix(reason, notFound.Error()); reason == "" {
			return nil, notFound
		}
		return nil, fmt.Errorf("%w: %s", notFound, strings.TrimPrefix(reason, ": "))
	case code != "":
		return nil, fmt.Errorf("it answers %s", reason)
	}
	return m.Data, nil
}

// readInstance decodes an answer. It rejects one that is too large or has invalid times.
func readInstance(answer []byte) (*Instance, error) {
	if len(answer) > MaxMessage {
		return nil, fmt.Errorf("%w: %d bytes", TooLarge, len(answer))
	}
	var i Instance
	if err := json.Unmarshal(answer, &i); err != nil {
		return nil, fmt.Errorf("%w: %w", NotJSON, err)
	}
	if err := checkText(i.Acts, MaxName); err != nil {
		return nil, fmt.Errorf("acts: %w", err)
	}
	for _, v := range i.Verbs {
		if err := checkText(v, MaxName); err != nil {
			return nil, fmt.Errorf("verbs: %w", err)
		}
	}
	i.Tool = stats.Clip(i.Tool, stats.MaxWhat)
	if len(i.Tokens) > MaxHeld {
		return nil, fmt.Errorf("%w: %d rows of tokens", TooMany, len(i.Tokens))
	}
	for _, t := range i.Tokens {
		if len(t.Waits) > MaxWaits {
			return nil, fmt.Errorf("%w: %d waits of a token", TooMany, len(t.Waits))
		}
		if err := checkData(string(t.Data)); err != nil {
			return nil, err
		}
		times := []int64{i.At, t.Injected}
		for k := range t.Waits {
			times = append(times, t.Waits[k].Until)
			t.Waits[k].What = stats.Clip(t.Waits[k].What, stats.MaxWhat)
			if c := t.Waits[k].Command; len(c) > MaxCommand || strings.ContainsFunc(c, plaintext.Hostile) {
				t.Waits[k].Command = "" // a part of it, or what it does not show, must not be pasted
			}
		}
		if least, most := slices.Min(times), slices.Max(times); least < 0 || most > MaxTime {
			return nil, fmt.Errorf("%w: a time of %d or %d", BadValue, least, most)
		}
	}
	return &i, nil
}
