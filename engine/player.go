// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"

	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/engine/ready"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// ErrPlain reports data for tokens that cannot carry any: nothing in the net
// uses data.
var ErrPlain = errors.New("tokens of this net carry no data")

// player plays the instances of one net that a worker owns: a plain.Shard, or a
// coloured.Shard if not only tokens decide what happens.
type player interface {
	Step(budget int, now int64) int
	Urge(now int64) int
	HasUrgent() bool
	DueWithin() (first, latest int64, ok bool)
	Look(now int64, name func(number int) string, rows *stats.Rows)
	TakeSlowest(name func(number int) string, rows *stats.Rows)
	Follow(chosen func(number int) bool, now int64)
	TakeStays(to []stats.Stay) (_ []stats.Stay, lost uint64)
	Inside(i int, show func(data []byte) string, into *stats.HeldList)
	Find(place, i int, name string, show func(data []byte) string, into *stats.Search)
	Index(number int) (int, error)
	Number(i int) int
	Size() int
	Marking(i int) []uint32
	TokensIn(i, place int) uint32

	put(i, place int, data []byte, n uint32, now int64) error
	fire(i, transition int, data []byte, now int64) error
	fireIn(i, transition int, scope uint32, data []byte, now int64) error
	queue() (rows ready.Stats, waiting int, ok bool)

	// One event after another, for a worker with a discipline.
	Expire(now int64)
	Present() uint8
	ReadySince(p ready.Priority) (since int64, ok bool)
	StepOne(p ready.Priority, budget int, now int64) int

	// Ready returns what the shard has done since the last call.
	Ready() coloured.Ready

	// For a journal.
	Replay(log []byte, now int64) error
	AppendState(dst []byte) []byte
	LoadState(src []byte) (rest []byte, err error)
	Resume(now int64)
	Counted(into *stats.Rows)
	Recount(from *stats.Rows) error

	// For a part of a net.
	arrive(i, place int, data []byte, n uint32, now int64) error
}

// plainPlayer plays nets in which tokens alone decide what happens.
type plainPlayer struct{ *plain.Shard }

func (p plainPlayer) put(i, place int, data []byte, n uint32, now int64) error {
	if data != nil {
		return ErrPlain
	}
	return p.Inject(i, place, n, now)
}

func (p plainPlayer) arrive(i, place int, data []byte, n uint32, now int64) error {
	return p.put(i, place, data, n, now)
}

func (p plainPlayer) fire(i, transition int, data []byte, now int64) error {
	if data != nil {
		return ErrPlain
	}
	return p.Fire(i, transition, now)
}

func (p plainPlayer) fireIn(i, transition int, scope uint32, data []byte, now int64) error {
	if scope != 0 {
		return fmt.Errorf("run %d of a scope: %w: the net has no scopes", scope, petri.ErrNotEnabled)
	}
	return p.fire(i, transition, data, now)
}

func (p plainPlayer) queue() (rows ready.Stats, waiting int, ok bool) {
	rows, ok = p.Queue()
	return rows, 0, ok
}

// Ready returns the log and the crossings; nothing else happens in such a net.
func (p plainPlayer) Ready() coloured.Ready {
	r := p.Shard.Ready()
	return coloured.Ready{Log: r.Log, Crossings: r.Crossings}
}

// colouredPlayer plays the other nets.
type colouredPlayer struct{ *coloured.Shard }

func (c colouredPlayer) put(i, place int, data []byte, n uint32, now int64) error {
	return c.Inject(i, place, data, n, now)
}

func (c colouredPlayer) arrive(i, place int, data []byte, n uint32, now int64) error {
	return c.Arrive(i, place, data, n, now)
}

func (c colouredPlayer) fire(i, transition int, data []byte, now int64) error {
	return c.Fire(i, transition, data, now)
}

func (c colouredPlayer) fireIn(i, transition int, scope uint32, data []byte, now int64) error {
	return c.FireIn(i, transition, scope, data, now)
}

func (c colouredPlayer) queue() (rows ready.Stats, waiting int, ok bool) {
	rows, waiting = c.Work()
	return rows, waiting, true
}
