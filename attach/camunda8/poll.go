// SPDX-License-Identifier: Apache-2.0

package camunda8

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/pnagent/pnagent/attach/internal/diagram"
	"github.com/pnagent/pnagent/attach/internal/ledger"
)

// The searches that are used.
const (
	definitionsPath   = "/process-definitions"
	elementsPath      = "/element-instances"
	incidentsPath     = "/incidents"
	jobsPath          = "/jobs"
	tasksPath         = "/user-tasks"
	subscriptionsPath = "/message-subscriptions"
	instancesPath     = "/process-instances"
	waitStatesPath    = "/element-instances/wait-states"
)

var searches = []string{definitionsPath, elementsPath, incidentsPath, jobsPath, tasksPath, subscriptionsPath, instancesPath, waitStatesPath}

// isOptional reports whether an error says that the API lacks a search that only
// later versions have.
func isOptional(path string, err error) bool {
	return path == waitStatesPath && errors.Is(err, errAbsent)
}

// maxFlow bounds the rows of one poll; the next poll continues.
const maxFlow = 1_000_000

// poll asks the API once and changes the ledgers. An error leaves what was read
// before it.
func (a *Adapter) poll(ctx context.Context) error {
	defer func() { a.requests.Store(a.client.requests) }()
	listed, err := a.definitions.Begin(ctx, time.Now().UnixMicro())
	if err != nil {
		return err
	}
	if listed {
		clear(a.absent)
	}
	a.SetClock(a.client.clock.Ahead(), 0)
	now := a.Now()
	if !a.state.Started.Begun() {
		a.state = state{Started: *diagram.NewCursor(now), Ended: *diagram.NewCursor(now)}
	}
	if err := a.definitions.Tokens(func() error { return a.readPresence(ctx, now) }); err != nil {
		return err
	}
	if err := a.readFlow(ctx, "started", &a.state.Started, now); err != nil {
		return err
	}
	return a.readFlow(ctx, "ended", &a.state.Ended, now)
}

// each searches, and notes how long that took. It returns no items of a search that
// this version of the API lacks.
func each[T any](ctx context.Context, a *Adapter, name, path string, q query, most int, take func(*T) error) error {
	if a.absent[path] {
		return nil
	}
	begin := time.Now()
	more, err := search(ctx, a.client, path, q, most, take)
	if isOptional(path, err) {
		a.absent[path] = true
		return nil
	}
	if more {
		a.Drop(name)
	}
	a.Took(name, begin)
	return err
}

// errVanished is returned if nothing is left of what the API showed before. The engine keeps
// definitions, and for a time element instances that ended.
var errVanished = errors.New("the API shows nothing any more; does the client have READ_PROCESS_INSTANCE and READ_PROCESS_DEFINITION?")

// readDefinitions reads the list of definitions.
func (a *Adapter) readDefinitions(ctx context.Context, take func(diagram.Definition)) error {
	listed := 0
	err := each(ctx, a, "definition", definitionsPath, query{Sort: by("processDefinitionKey")}, diagram.MaxDefinitions, func(p *processDefinition) error {
		listed++
		take(diagram.Definition{ID: p.Key, Key: p.ID, Net: p.ID, Name: p.Name, Version: p.Version})
		return nil
	})
	if err == nil && listed == 0 && len(a.definitions.All) > 0 {
		err = fmt.Errorf("%d process definitions: %w", len(a.definitions.All), errVanished)
	}
	return err
}

// shown returns an error if there is no element instance at all, also none that ended. An
// API leaves out what the client may not read.
func (a *Adapter) shown(ctx context.Context) error {
	found := false
	_, err := search(ctx, a.client, elementsPath, query{Sort: by("elementInstanceKey")}, 1, func(*elementInstance) error {
		found = true
		return nil
	})
	if err == nil && !found {
		err = fmt.Errorf("element instances: %w", errVanished)
	}
	return err
}

// net returns the net of an element instance, and that of its version alone; they are the
// same if the model of the version was not read yet. It returns nil for a definition that is
// not listed, or not wanted.
func (a *Adapter) net(ctx context.Context, e *elementInstance) (n, version *diagram.Process, err error) {
	if len(a.cfg.Nets) > 0 && !slices.Contains(a.cfg.Nets, e.Process) {
		return nil, nil, nil
	}
	d, n, err := a.definitions.Of(ctx, e.Definition, e.Element)
	if n == nil || err != nil {
		return nil, nil, err
	}
	return n, cmp.Or(d.Model, n), nil
}

// readModel reads the model of a definition. unfit is about the model, err about the API.
func (a *Adapter) readModel(ctx context.Context, d *diagram.Definition) (n *diagram.Process, unfit, err error) {
	model, err := a.client.do(ctx, http.MethodGet, definitionsPath+"/"+url.PathEscape(d.ID)+"/xml", nil, maxModel)
	if err != nil && !errors.Is(err, errAbsent) {
		return nil, nil, err
	}
	n, unfit = diagram.New(d.Key, d.Name, model)
	return n, errors.Join(err, unfit), nil
}

// readPresence reads where instances are and what they wait for.
func (a *Adapter) readPresence(ctx context.Context, now int64) error {
	var open []elementInstance
	q := query{Filter: map[string]any{"state": "ACTIVE"}, Sort: by("elementInstanceKey")}
	err := each(ctx, a, "token", elementsPath, q, a.cfg.Tokens, func(e *elementInstance) error {
		open = append(open, *e)
		return nil
	})
	if err == nil && len(open) == 0 && a.held {
		err = a.shown(ctx)
	}
	if err != nil {
		return err
	}
	a.held = len(open) > 0
	whys, err := a.readWhys(ctx, now)
	if err != nil {
		return err
	}
	a.definitions.Each((*diagram.Process).Begin)
	for i := range open {
		e := &open[i]
		n, version, err := a.net(ctx, e)
		if err != nil {
			return err
		}
		if n == nil || e.isBody() && !whys.own(e.Key) {
			continue
		}
		since, ok := a.micros(e.Start)
		if !ok {
			since = now
		}
		t := ledger.Token{ID: e.Key, Instance: e.Instance, Since: since}
		if !n.Add(version, e.Element, t, whys.of(n, e)) {
			a.Drop("place")
		}
	}
	a.definitions.Each((*diagram.Process).End)
	return nil
}

// readFlow reads the element instances that started or ended since the cursor, and
// counts each once.
func (a *Adapter) readFlow(ctx context.Context, name string, c *diagram.Cursor, now int64) error {
	overlap := a.cfg.Overlap.Microseconds()
	field, filter := "startDate", map[string]any{}
	if name == "ended" {
		field, filter["state"] = "endDate", in("COMPLETED", "TERMINATED")
	}
	filter[field] = since(c.From(overlap))
	q := query{Filter: filter, Sort: by(field, "elementInstanceKey")}
	_, err := search(ctx, a.client, elementsPath, q, maxFlow, func(e *elementInstance) error {
		n, _, err := a.net(ctx, e)
		if n == nil || err != nil || !e.hasFlow() {
			return err
		}
		a.flow(n, name, e, c, now)
		return nil
	})
	c.Forget(overlap)
	return err
}

// flow counts the start or the end of an element instance.
func (a *Adapter) flow(n *diagram.Process, name string, e *elementInstance, c *diagram.Cursor, now int64) {
	r := diagram.Row{ID: e.Key, Node: e.Element}
	started, ok := a.micros(e.Start)
	r.At = started
	if name == "ended" {
		var ended bool
		r.At, ended = a.micros(e.End)
		ok = ok && ended
		r.Micros, r.Canceled = max(r.At-started, 0), e.State == "TERMINATED"
	}
	if !ok || !c.Take(&r, now) {
		return
	}
	if name == "started" {
		n.Started(&r)
	} else {
		n.Ended(&r)
	}
	a.Counted(name)
}

// micros returns a time of the API, and counts an invalid one.
func (a *Adapter) micros(text string) (int64, bool) {
	at, ok := micros(text)
	if !ok {
		a.Drop("time")
	}
	return at, ok
}
