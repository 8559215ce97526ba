// SPDX-License-Identifier: Apache-2.0

package diagram

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/telemetry"
)

// ListEvery is the time between two readings of the list of definitions, in microseconds. A
// definition that a row names is looked up at once.
const ListEvery = 60_000_000

// MaxDefinitions bounds a list of definitions.
const MaxDefinitions = 100_000

const (
	maxNets   = 10_000 // unwanted ones count, too
	maxModels = 100    // in one poll, of nets that know the nodes already
)

// Definition is one version of a process.
type Definition struct {
	ID, Key, Net, Name string // Key is the process, Net the key, or key and version
	Version            int64

	// What is read when a row names it first.
	Model  *Process         // of this version alone; nil if it was not read
	Delays map[string]int64 // microseconds between tries, by task, if the model has them

	used  int64 // the last poll in which a row named it
	unfit bool  // that its model cannot be used was logged
}

// after reports whether a definition is a later version than another one.
func (d *Definition) after(o *Definition) bool {
	return cmp.Or(cmp.Compare(d.Version, o.Version), cmp.Compare(d.ID, o.ID)) > 0
}

// Definitions are those of an engine, and the nets that they make. The caller fills in the
// first fields.
type Definitions struct {
	Source *ledger.Source // that publishes the nets
	Wanted []string       // keys; empty for all
	Rows   string         // what names definitions, for messages
	Behind bool           // the list may lack what rows name then, so that it is read once more
	Tasks  bool           // those of a definition may change: a node that the net lacks is looked up in its model
	Log    *slog.Logger

	// List calls take with each definition that the engine lists.
	List func(ctx context.Context, take func(Definition)) error

	// Read reads the model of a definition. unfit is about the model, of which the rest is used.
	Read func(ctx context.Context, d *Definition) (n *Process, unfit, err error)

	All      map[string]*Definition // by id
	Nets     map[string]*Process    // by id; nil for one that is not wanted, or cannot be published
	ListedAt int64                  // when they were read at the begin of a poll
	TokensAt int64                  // the last poll that read the tokens; 0 for none

	took   time.Duration // that reading
	at     int64         // this poll
	since  int64         // older definitions are forgotten: no row named them since the last list and the last tokens
	read   bool          // the list was read in this poll, and is not read again
	models int           // that were read in this poll
}

// Begin begins a poll. If it is time for that, it reads the list, makes a net of the newest
// version of each process, and reports that. Others get a net when a row names them.
func (s *Definitions) Begin(ctx context.Context, at int64) (listed bool, err error) {
	if s.All == nil {
		s.All, s.Nets = map[string]*Definition{}, map[string]*Process{}
	}
	s.at, s.since, s.read, s.models = at, min(s.ListedAt, s.TokensAt), false, 0
	if s.ListedAt != 0 && at-s.ListedAt < ListEvery {
		return false, nil
	}
	if err := s.Relist(ctx); err != nil {
		return false, err
	}
	newest := map[string]*Definition{}
	for _, d := range s.All {
		if of := newest[d.Key]; of == nil || d.after(of) {
			newest[d.Key] = d
		}
	}
	for _, key := range slices.Sorted(maps.Keys(newest)) {
		if _, err := s.net(ctx, newest[key].Net); err != nil {
			return false, err
		}
	}
	s.ListedAt, s.read = at, !s.Behind
	return true, nil
}

// Tokens calls read, which reads the tokens, if that took less than a tenth of the time since.
func (s *Definitions) Tokens(read func() error) error {
	if s.TokensAt != 0 && s.at-s.TokensAt < 10*s.took.Microseconds() {
		return nil
	}
	begin := time.Now()
	if err := read(); err != nil {
		return err
	}
	s.TokensAt, s.took = s.at, time.Since(begin)
	return nil
}

// Relist reads the list of definitions, at most once in a poll. It forgets those that are not
// listed, and the models of others, if no row named them since the last list and the last tokens.
func (s *Definitions) Relist(ctx context.Context) error {
	if s.read {
		return nil
	}
	s.read = true
	listed := map[string]*Definition{}
	err := s.List(ctx, func(d Definition) {
		known := s.All[d.ID]
		if known == nil {
			known = &d
		}
		listed[d.ID] = known
	})
	if err != nil {
		return err
	}
	for id, d := range s.All {
		if d.used < s.since {
			d.Model, d.Delays = nil, nil
		} else {
			listed[id] = d
		}
	}
	s.All = listed
	return nil
}

// net returns the net of an id, and makes it. It returns nil for one that is not wanted, or
// cannot have one; a refusal is counted once.
func (s *Definitions) net(ctx context.Context, id string) (*Process, error) {
	if n, known := s.Nets[id]; known {
		return n, nil
	}
	d := s.newest(id)
	var n *Process
	switch {
	case len(s.Wanted) > 0 && !slices.Contains(s.Wanted, d.Key):
	case len(s.Nets) >= maxNets || telemetry.CheckName(id) != nil:
		s.Source.Drop("net")
	default:
		if err := s.readModel(ctx, d); err != nil {
			return nil, err
		}
		n = d.Model
		s.Source.Add(n.Ledger)
	}
	s.Nets[id] = n
	return n, nil
}

// newest returns the newest version of a net.
func (s *Definitions) newest(net string) *Definition {
	var out *Definition
	for _, d := range s.All {
		if d.Net == net && (out == nil || d.after(out)) {
			out = d
		}
	}
	return out
}

// Of returns the definition that a row names, and the net of it. If the definition is new, it
// reads the list of definitions, once in a poll. It reads the model when a row names the
// definition first. The net is nil for a definition that is not listed or not wanted, or if
// there is no room. node is that of the row, or "".
func (s *Definitions) Of(ctx context.Context, id, node string) (*Definition, *Process, error) {
	if s.All[id] == nil {
		if err := s.Relist(ctx); err != nil {
			return nil, nil, err
		}
	}
	d := s.All[id]
	if d == nil {
		s.Source.Drop("definition")
		return nil, nil, nil
	}
	d.used = s.at
	n, err := s.net(ctx, d.Net)
	if n == nil || err != nil {
		return d, nil, err
	}
	unknown := node != "" && !n.Knows(node)
	again := unknown && s.Tasks
	if unknown && d.Model == nil || (again || d.Model == nil) && s.models < maxModels {
		s.models++
		if err := s.readModel(ctx, d); err != nil {
			return nil, nil, err
		}
		n.Merge(d.Model)
		if d == s.newest(d.Net) {
			n.Show(d.Model)
		}
	}
	return d, n, nil
}

// readModel reads the model of a definition. One that cannot be used is logged; its nodes
// are added as rows name them.
func (s *Definitions) readModel(ctx context.Context, d *Definition) error {
	n, unfit, err := s.Read(ctx, d)
	if err != nil {
		return err
	}
	d.Model = n
	if unfit != nil && !d.unfit {
		d.unfit = true
		s.Log.Warn("the model cannot be used; places are added as "+s.Rows+" name them", "net", d.Net, "definition", d.ID, "err", unfit)
	}
	return nil
}

// Each calls f with each net.
func (s *Definitions) Each(f func(*Process)) {
	for _, n := range s.Nets {
		if n != nil {
			f(n)
		}
	}
}
