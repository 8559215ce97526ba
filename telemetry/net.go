// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"fmt"
	"slices"

	"github.com/pnagent/pnagent/stats"
)

// The fields of a snapshot with the rows of the net as a whole.
const (
	fieldRow     = 13
	fieldBlocks  = 14
	fieldQueues  = 16
	fieldWaiting = 17
)

func appendBlocks(b []byte, blocks []stats.Block) []byte {
	for _, x := range blocks {
		var start int
		b, start = beginField(b, fieldBlocks)
		b = appendNumber(b, 1, uint32(x.Transition))
		b = appendNumber(b, 2, uint32(x.Place+1))
		b = appendNumber(b, 3, x.Reason)
		b = endField(appendNumber(b, 4, x.Instances), start)
	}
	return b
}

func appendQueues(b []byte, queues []stats.Queue) []byte {
	for i := range queues {
		var start int
		b, start = beginField(b, fieldQueues)
		b = appendNumber(b, 1, queues[i].Priority)
		b = endField(appendRow(b, queueNumbers, &queues[i]), start)
	}
	return b
}

func readNet(f *field, rows *stats.Rows, most uint64) error {
	rows.Net = stats.NetRow{}
	if !f.set {
		return nil
	}
	top := readRow(f.fields, netNumbers, &rows.Net)
	if top > most {
		return fmt.Errorf("row: %w: %d, of at most %d", BadValue, top, most)
	}
	rows.Columns |= stats.ColInstances
	return nil
}

// readBlocks sets the blocks, sorted, with the blocks of one condition added up.
func readBlocks(list *field, rows *stats.Rows) error {
	if n := len(list.parts); n > MaxBlocks {
		return fmt.Errorf("blocks: %w: %d, of at most %d", TooMany, n, MaxBlocks)
	}
	blocks, f := resize(rows.Blocks, len(list.parts)), list.fields
	for i, b := range list.parts {
		err := f.read(b, outer)
		if err != nil {
			return err
		}
		transition, place, instances := uint32(f[1].number), uint32(f[2].number), f[4].number
		if transition >= MaxRows || place > MaxRows {
			return fmt.Errorf("blocks: %w: transition %d, place %d", BadIndex, transition, place)
		}
		if instances > MaxCount {
			return fmt.Errorf("blocks: %w: %d instances", BadValue, instances)
		}
		blocks[i] = stats.Block{Transition: int32(transition), Place: int32(place) - 1, Reason: reason(f[3].number), Instances: instances}
	}
	if !slices.IsSortedFunc(blocks, stats.Block.Compare) {
		slices.SortFunc(blocks, stats.Block.Compare)
	}
	out := blocks[:0]
	for _, b := range blocks {
		if last := len(out) - 1; last >= 0 && out[last].Compare(b) == 0 {
			out[last].Instances += b.Instances
		} else {
			out = append(out, b)
		}
	}
	rows.Blocks = out
	if len(out) > 0 {
		rows.Columns |= stats.ColBlocks
	}
	return nil
}

// readWaiting sets the number of waiting pieces of work.
func readWaiting(f *field, rows *stats.Rows, most uint64) error {
	rows.Waiting = f.number
	if rows.Waiting > most {
		return fmt.Errorf("waiting: %w: %d", BadValue, rows.Waiting)
	}
	if f.set {
		rows.Columns |= stats.ColWaiting
	}
	return nil
}

func readQueues(list *field, rows *stats.Rows, most uint64) error {
	if n := len(list.parts); n > stats.Priorities {
		return fmt.Errorf("queues: %w: %d, of at most %d", TooMany, n, stats.Priorities)
	}
	rows.Queues = resize(rows.Queues, len(list.parts))
	for i, b := range list.parts {
		f, q := list.fields, &rows.Queues[i]
		err := f.read(b, outer)
		if err != nil {
			return err
		}
		priority := uint32(f[1].number)
		if priority >= stats.Priorities {
			return fmt.Errorf("queues: %w: priority %d, of %d", BadIndex, priority, stats.Priorities)
		}
		q.Priority = uint8(priority)
		if top := readRow(f, queueNumbers, q); top > most {
			return fmt.Errorf("queues: %w: %d, of at most %d", BadValue, top, most)
		}
		if min(q.OldestSince, q.UnservedSince) < 0 || max(q.OldestSince, q.UnservedSince) > MaxTime {
			return fmt.Errorf("queues: %w: a time of %d or %d", BadValue, q.OldestSince, q.UnservedSince)
		}
	}
	if !stats.ValidQueues(rows.Queues) {
		return fmt.Errorf("queues: %w: priorities rise", BadIndex)
	}
	if len(rows.Queues) > 0 {
		rows.Columns |= stats.ColQueues
	}
	return nil
}
