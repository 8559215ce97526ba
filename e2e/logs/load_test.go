// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/petri/split"
	"github.com/pnagent/pnagent/telemetry"
)

// lineNet takes what is put into "in" over three regions to "done", where it
// stays. So whatever was put in is counted once by each transition in the end.
const lineNet = `<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id="line" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="p">
<place id="in"/><place id="b"/><place id="c"/><place id="done"/>
<transition id="t1"/><transition id="t2"/><transition id="t3"/>
<arc id="x1" source="in" target="t1"/><arc id="x2" source="t1" target="b"/><arc id="x3" source="b" target="t2"/>
<arc id="x4" source="t2" target="c"/><arc id="x5" source="c" target="t3"/><arc id="x6" source="t3" target="done"/>
</page></net></pnml>`

// lineRegions has tokens under way when a process ends.
const lineRegions = `nets:
  line:
    transitions: {t1: {delay: 1ms}, t2: {delay: 1ms}, t3: {delay: 1ms}}
    regions: {one: [t1], two: [t2], three: [t3]}
`

func line() played { return played{lineNet, lineRegions} }

// injectEvery is the time between two injections from one side: that the net is
// never at rest is enough, and the processes are to have the machine.
const injectEvery = 10 * time.Millisecond

// load puts tokens into "in" again and again. Those of a request that was
// answered are there; those of one that was not may be.
type load struct {
	sent, acknowledged atomic.Uint64 // tokens; sent is never less than what is there

	stop   context.CancelFunc
	ending sync.WaitGroup
}

// injections starts a load from two sides, on instances of a fleet whose part
// for an instance is partOf.
func (f *fleet) injections(partOf func(instance int) string) *load {
	f.t.Helper()
	ctx, stop := context.WithCancel(f.t.Context())
	l := &load{stop: stop}
	for range 2 {
		l.ending.Go(func() {
			next := time.NewTicker(injectEvery)
			defer next.Stop()
			for ctx.Err() == nil {
				<-next.C
				i := rand.IntN(f.instances)
				n := 1 + rand.Uint64N(10)
				body := fmt.Appendf(nil, `{"instance":%d,"place":"in","tokens":%d}`, i, n)
				l.sent.Add(n)
				if sent, acknowledged := f.ask(ctx, "inject", partOf(i), body); acknowledged {
					l.acknowledged.Add(n)
				} else if !sent {
					l.sent.Add(-n)
				}
			}
		})
	}
	f.t.Cleanup(l.end)
	return l
}

// end stops the load.
func (l *load) end() {
	l.stop()
	l.ending.Wait()
}

// ask sends a request to the owner of a part, once. It reports whether the owner may have
// received it, and whether it was acknowledged.
func (f *fleet) ask(ctx context.Context, kind, part string, body []byte) (sent, acknowledged bool) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	subject := telemetry.DefaultPrefix + "." + kind + "." + telemetry.Escape(f.id()) + "." + telemetry.Escape(part)
	m, err := f.conn.RequestWithContext(ctx, subject, body)
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		select { // the part has no owner now
		case <-ctx.Done():
		case <-time.After(kit.PollEvery):
		}
		return false, false
	case err != nil:
		return true, false
	}
	if string(m.Data) != `{"ok":true}` {
		f.t.Errorf("%s %s: got %s; want ok", subject, body, m.Data)
	}
	return true, true
}

// grows waits until a number of further tokens are acknowledged.
func (l *load) grows(t *testing.T, by uint64) {
	t.Helper()
	before := l.acknowledged.Load()
	kit.Until(t, "tokens are put in", func() error {
		if n := l.acknowledged.Load() - before; n < by {
			return fmt.Errorf("%d of %d", n, by)
		}
		return nil
	})
}

// inRegion is where all instances of the line take tokens.
func inRegion(int) string { return "one" }

// inPartition returns the partition of an instance.
func inPartition(of int) func(int) string {
	return func(instance int) string { return fmt.Sprintf("p%d", split.Partition(instance, of)) }
}
