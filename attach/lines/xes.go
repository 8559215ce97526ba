// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/pnagent/pnagent/attach/lines/replay"
	"github.com/pnagent/pnagent/petri/xes"
)

// Bounds of a log.
const (
	maxLog       = 1 << 40   // bytes of OCEL, unpacked
	maxSorted    = 5_000_000 // events that are sorted in memory, to replay them at a speed
	eventsAtOnce = 512
	maxTrace     = 100_000 // events of one trace in memory
)

// TakeXES reads a whole event log in XES (IEEE 1849-2016), plain or gzip. A
// trace is an instance, named by its concept:name or else by its number. An
// event with a concept:name is a firing at its time:timestamp; with a
// lifecycle:transition, only complete ones count. The instance ends with its
// trace. At unlimited speed traces are applied one after another, otherwise all
// events in the order of time. With a state file, events of the same file that
// were applied before are skipped.
func (a *Attachment) TakeXES(ctx context.Context, path string) error {
	return a.takeLog(ctx, path, "xes:"+path, (*logReader).readXES)
}

// takeLog reads a log by read, and applies its events. key is that of its position in the state.
func (a *Attachment) takeLog(ctx context.Context, path, key string, read func(x *logReader, ctx context.Context, r io.Reader, file string) error) error {
	f, fi, err := openWith(path)
	if err != nil {
		return fmt.Errorf("reading an event log: %w", err)
	}
	defer f.Close()
	x := &logReader{a: a, feed: a.Feed(), pos: a.logPosition(f, key, fi.Size(), inode(fi))}
	x.skip = x.pos.offset
	err = read(x, ctx, f, path)
	if a.pace.speed > 0 && err == nil {
		return x.inOrder(ctx)
	}
	x.deliver()
	return err
}

// logPosition returns how many events of a log are applied; none for a new or changed file.
func (a *Attachment) logPosition(f *os.File, key string, size int64, number uint64) *position {
	head := min(size, headSize)
	sum, err := headSum(f, head)
	a.mu.Lock()
	defer a.mu.Unlock()
	p := a.positions[key]
	if p == nil || err != nil || p.inode != number || p.head != head || p.sum != sum {
		p = &position{inode: number, head: head, sum: sum}
		a.positions[key] = p
	}
	return p
}

// logReader reads one log.
type logReader struct {
	a     *Attachment
	feed  *Feed
	pos   *position // offset counts events and ends of traces
	skip  int64     // number of those applied before
	lot   []event   // to be sorted, if the speed is bounded
	begin int       // number of gathered events before the trace
	last  int64     // time of the trace's last event
}

func (x *logReader) readXES(ctx context.Context, r io.Reader, file string) error {
	scan, err := xes.NewReader(r, file)
	if err != nil {
		return err
	}
	err = x.log(ctx, scan)
	if err != nil && ctx.Err() == nil {
		x.feed.count.Dropped[NotXES]++
	}
	return err
}

// log reads to the end of the log.
func (x *logReader) log(ctx context.Context, scan *xes.Reader) error {
	for {
		item, err := scan.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		switch item.Kind {
		case xes.Stray:
			x.feed.count.Dropped[NoInstance]++ // outside of a trace
		case xes.Event:
			x.event(item)
		case xes.End:
			if x.last > 0 {
				x.take(fields{instance: item.Trace, end: true})
			}
			x.endTrace()
			x.last = 0
		}
	}
}

// event takes an event if it completes its activity.
func (x *logReader) event(i *xes.Item) {
	x.feed.count.Lines++
	if phase := string(i.Phase); phase != "" && phase != "complete" && phase != "COMPLETE" {
		x.feed.count.Dropped[Ignored]++
		return
	}
	x.take(fields{instance: i.Trace, textual: true, transition: i.Name, time: i.Time})
}

// take makes an event of fields, unless it was applied before.
func (x *logReader) take(in fields) {
	x.feed.fields = in
	e, why := x.feed.resolve(x.a.clock())
	if in.end && why == Taken {
		e.time = x.last
		x.feed.count.Undated-- // resolve counted it, as it has no time of its own
	}
	if why != Taken {
		x.feed.count.Dropped[why]++
		x.a.show(why, fmt.Appendf(nil, "event %q of trace %q", in.transition, in.instance))
		return
	}
	x.last = max(x.last, e.time)
	if x.a.pace.speed > 0 {
		x.gather(e)
		return
	}
	if x.skip > 0 {
		x.skip--
		return
	}
	x.feed.events = append(x.feed.events, e)
	if len(x.feed.events) >= maxTrace {
		x.endTrace()
	}
}

// endTrace lets each event of the trace know those that follow, and applies the
// events if there are enough.
func (x *logReader) endTrace() {
	if x.a.pace.speed > 0 {
		x.a.link(x.lot[x.begin:])
		x.begin = len(x.lot)
		return
	}
	x.a.link(x.feed.events[x.begin:])
	if len(x.feed.events) >= eventsAtOnce {
		x.deliver()
	}
	x.begin = len(x.feed.events)
}

// link sets the following events of each event of an instance.
func (a *Attachment) link(events []event) {
	if len(events) == 0 || !a.nets[events[0].net].Ambiguous() {
		return
	}
	var all []int32
	for k := range events {
		switch events[k].kind {
		case fires:
			all = append(all, events[k].index)
		case ends:
			all = append(all, replay.EndsNext)
		}
	}
	fired := 0
	for k := range events {
		if events[k].kind == fires {
			fired++
			events[k].next = all[fired:min(fired+replay.Ahead, len(all))]
		}
	}
}

func (x *logReader) deliver() {
	n := int64(len(x.feed.events))
	x.feed.deliver(x.a.clock(), func(int) { x.pos.offset += n }, 0)
}

// gather keeps an event until the end of the log.
func (x *logReader) gather(e event) {
	if len(x.lot) >= maxSorted {
		x.feed.count.Dropped[TooLong]++
		return
	}
	x.lot = append(x.lot, e)
}

// inOrder applies the events of all traces at their times.
func (x *logReader) inOrder(ctx context.Context) error {
	slices.SortStableFunc(x.lot, func(a, b event) int { return cmp.Compare(a.time, b.time) })
	for _, e := range x.lot[min(x.skip, int64(len(x.lot))):] {
		if err := x.a.pace.wait(ctx, e.time); err != nil {
			return err
		}
		if x.a.cfg.AsNow {
			e.time = x.a.clock()
		}
		x.feed.events = append(x.feed.events, e)
		x.deliver()
	}
	return nil
}
