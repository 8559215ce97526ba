// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// Instance returns the content of an instance of a net, by the name that
// InstanceName returns. The error wraps telemetry.ErrNoInstance if the engine
// has no instance of that name.
func (e *Engine) Instance(ctx context.Context, net, name string) (*telemetry.Instance, error) {
	number, err := e.number(name)
	if err != nil {
		return nil, err
	}
	w, k, i, err := e.find(net, number)
	if err != nil {
		return nil, fmt.Errorf("%w: %q; expected %q to %q", telemetry.ErrNoInstance, name, e.InstanceName(0), e.InstanceName(e.cfg.Instances-1))
	}
	held := stats.HeldList{Limit: telemetry.MaxHeld}
	out := &telemetry.Instance{Instance: name, Tokens: []telemetry.InstanceToken{}}
	if err := e.call(ctx, w, func(now int64) { w.shards[k].Inside(i, e.show, &held); out.At = now }); err != nil {
		return nil, err
	}
	def := e.cfg.Nets[k].Tables.Net
	for _, h := range held.Oldest() {
		t := telemetry.InstanceToken{Place: def.Places[h.Place].ID, Tokens: h.Tokens, Injected: h.Injected, Data: json.RawMessage(h.Data)}
		for _, wait := range h.Waits {
			t.Waits = append(t.Waits, telemetry.NewInstanceWait(def, wait))
		}
		out.Tokens = append(out.Tokens, t)
	}
	out.LeftOut = held.LeftOut
	return out, nil
}

// show returns what the engine publishes of the data of a token.
func (e *Engine) show(data []byte) string { return stats.Shown(data, e.cfg.ShowData) }

// foundAtOnce is in how many instances a worker looks for tokens without a pause.
const foundAtOnce = 2000

// oldest answers a request for tokens of a place. The instances are read in several steps,
// each at one moment.
func (e *Engine) oldest(net, place int, q *stats.Query) (stats.Found, error) {
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	search := stats.NewSearch(q)
	for _, w := range e.workers {
		s := w.shards[net]
		for from := 0; from < s.Size(); from += foundAtOnce {
			err := e.call(ctx, w, func(int64) {
				for i := from; i < min(from+foundAtOnce, s.Size()); i++ {
					if name := e.InstanceName(s.Number(i)); search.Named(name) {
						s.Find(place, i, name, e.show, search)
					}
				}
			})
			if err != nil {
				return stats.Found{}, forOthers(err)
			}
		}
	}
	return search.Found(), nil
}

// number is the inverse of InstanceName.
func (e *Engine) number(name string) (int, error) {
	digits, ours := strings.CutPrefix(name, e.named+"/")
	n, err := strconv.ParseUint(digits, 10, 31)
	if !ours || err != nil || e.InstanceName(int(n)) != name {
		return 0, fmt.Errorf("%w: %q; expected a name such as %q", telemetry.ErrNoInstance, name, e.InstanceName(0))
	}
	return int(n), nil
}

// instance answers a request for one instance.
func (e *Engine) instance(net int, name string) (*telemetry.Instance, error) {
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	found, err := e.Instance(ctx, e.cfg.Nets[net].Tables.Net.ID, name)
	return found, forOthers(err)
}

// forOthers returns an error for other programs, with the text of Public.
func forOthers(err error) error {
	if err == nil || Public(err) == err.Error() {
		return err
	}
	return errors.New(Public(err))
}
