// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"

	"github.com/pnagent/pnagent/colour"
	"github.com/pnagent/pnagent/game"
	"github.com/pnagent/pnagent/petri/split"
	"github.com/pnagent/pnagent/pool"
	"github.com/pnagent/pnagent/stats"
)

// ErrPlain says that data came for tokens that cannot carry any: nothing in the
// net looks at data.
var ErrPlain = errors.New("tokens of this net carry no data")

// player plays the instances of one net that a worker owns: a game.Shard, or a
// colour.Shard where tokens alone do not decide what happens.
type player interface {
	Step(budget int, now int64) int
	NextDue() (int64, bool)
	Look(now int64, name func(number int) string, rows *stats.Rows)
	TakeSlowest(name func(number int) string, rows *stats.Rows)
	Inside(i int, into *stats.HeldList)
	Index(number int) (int, error)
	Marking(i int) []uint32

	put(i, place int, data []byte, n uint32, now int64) error
	fire(i, transition int, data []byte, now int64) error
	queue() (pool.WorkStats, bool)

	// One event after another, for a worker with a discipline.
	Expire(now int64)
	Present() uint8
	ReadySince(p pool.Priority) (since int64, ok bool)
	StepOne(p pool.Priority, budget int, now int64) int

	// What a journal keeps.
	TakeLog() []byte
	Replay(log []byte, now int64) error
	ReplayOlder(log []byte, now int64) error
	AppendState(dst []byte) []byte
	LoadState(src []byte) (rest []byte, err error)
	Resume(now int64)
	Counted(into *stats.Rows)
	Recount(from *stats.Rows) error

	// What a part of a net has in addition.
	arrive(i, place int, data []byte, n uint32, now int64) error
	TakeCrossings() []split.Crossing
}

// plain plays nets in which tokens alone decide what happens.
type plain struct{ *game.Shard }

func (p plain) put(i, place int, data []byte, n uint32, now int64) error {
	if data != nil {
		return ErrPlain
	}
	return p.Inject(i, place, n, now)
}

func (p plain) arrive(i, place int, data []byte, n uint32, now int64) error {
	return p.put(i, place, data, n, now)
}

func (p plain) fire(i, transition int, data []byte, now int64) error {
	if data != nil {
		return ErrPlain
	}
	return p.Fire(i, transition, now)
}

func (p plain) queue() (pool.WorkStats, bool) {
	ready, ok := p.Queue()
	return pool.WorkStats{Ready: ready}, ok
}

// coloured plays the other nets.
type coloured struct{ *colour.Shard }

func (c coloured) put(i, place int, data []byte, n uint32, now int64) error {
	return c.Inject(i, place, data, n, now)
}

func (c coloured) arrive(i, place int, data []byte, n uint32, now int64) error {
	return c.Arrive(i, place, data, n, now)
}

// ReplayOlder is Replay: older versions wrote the same.
func (c coloured) ReplayOlder(log []byte, now int64) error { return c.Replay(log, now) }

func (c coloured) fire(i, transition int, data []byte, now int64) error {
	return c.Fire(i, transition, data, now)
}

func (c coloured) queue() (pool.WorkStats, bool) { return c.Work(), true }
