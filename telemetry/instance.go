// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
)

// ErrNoInstance says that a source does not have the instance that it was asked
// about.
var ErrNoInstance = errors.New("no such instance")

// MaxHeld is how many InstanceTokens an Instance has at most.
const MaxHeld = 1000

// Instance is what is in one instance of a net, as of At. It names places and
// transitions by their ids, so it can be read without a definition.
type Instance struct {
	Instance string          `json:"instance"`
	At       int64           `json:"at"` // by the source's clock, as all times here, in microseconds since the Unix epoch
	Tokens   []InstanceToken `json:"tokens"`
	LeftOut  uint64          `json:"left_out,omitempty"` // tokens for which there was no room
}

// InstanceToken is one or more tokens of a place that were injected at one time
// and wait for the same.
type InstanceToken struct {
	Place    string         `json:"place"`
	Tokens   uint64         `json:"tokens"`
	Injected int64          `json:"injected"`
	Waits    []InstanceWait `json:"waits,omitempty"`
}

// InstanceWait is what one output transition of the place waits for. See
// stats.Wait.
type InstanceWait struct {
	Transition string `json:"transition"`
	Reason     string `json:"reason"` // a name of stats.Reason
	Place      string `json:"place,omitempty"`
	Count      uint32 `json:"count,omitempty"`
	Until      int64  `json:"until,omitempty"`
}

// instance answers a request for one instance.
func (p *Publisher) instance(net int, name string) (reply []byte, code string, err error) {
	if p.cfg.Instance == nil {
		return nil, "501", errors.New("this source cannot tell about one instance")
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

// bound leaves out the last tokens beyond a number.
func (i *Instance) bound(n int) {
	for _, t := range i.Tokens[min(n, len(i.Tokens)):] {
		i.LeftOut += t.Tokens
	}
	i.Tokens = i.Tokens[:min(n, len(i.Tokens))]
}

// AskInstance asks a source what is in an instance of a net. The error wraps
// ErrNoInstance if the source does not have it. An engine that is older than
// this question answers with an error too.
func AskInstance(ctx context.Context, nc *nats.Conn, subjects Subjects, net, source, instance string) (*Instance, error) {
	request, err := json.Marshal(map[string]string{"instance": instance})
	if err != nil {
		return nil, fmt.Errorf("asking %s about an instance: %w", source, err)
	}
	m, err := nc.RequestWithContext(ctx, subjects.Instances(net, source), request)
	if err != nil {
		return nil, fmt.Errorf("asking %s about an instance: %w", source, err)
	}
	if code := m.Header.Get(micro.ErrorCodeHeader); code == "404" {
		return nil, fmt.Errorf("%s: %w", source, ErrNoInstance)
	} else if code != "" {
		return nil, fmt.Errorf("asking %s about an instance: it answers %.200s", source, m.Header.Get(micro.ErrorHeader))
	}
	found, err := readInstance(m.Data)
	if err != nil {
		return nil, fmt.Errorf("answer of %s about an instance: %w", source, err)
	}
	return found, nil
}

// readInstance reads an answer. What is of another instance, too much, or of
// impossible times is refused.
func readInstance(answer []byte) (*Instance, error) {
	if len(answer) > MaxMessage {
		return nil, fmt.Errorf("%w: %d bytes", TooLarge, len(answer))
	}
	var i Instance
	if err := json.Unmarshal(answer, &i); err != nil {
		return nil, fmt.Errorf("%w: %w", NotJSON, err)
	}
	if len(i.Tokens) > MaxHeld {
		return nil, fmt.Errorf("%w: %d rows of tokens", TooMany, len(i.Tokens))
	}
	for _, t := range i.Tokens {
		if len(t.Waits) > MaxWaits {
			return nil, fmt.Errorf("%w: %d waits of a token", TooMany, len(t.Waits))
		}
		for _, at := range append([]int64{i.At, t.Injected}, untils(t.Waits)...) {
			if at < 0 || at > MaxTime {
				return nil, fmt.Errorf("%w: a time of %d", BadValue, at)
			}
		}
	}
	return &i, nil
}

func untils(waits []InstanceWait) []int64 {
	var out []int64
	for _, w := range waits {
		out = append(out, w.Until)
	}
	return out
}
