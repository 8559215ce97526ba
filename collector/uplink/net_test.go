// SPDX-License-Identifier: Apache-2.0

package uplink

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// viewOf returns a View of one net whose transition fired this number of times.
func viewOf(n *petri.Net, firings uint64) *merge.View {
	rows := stats.NewRows(len(n.Places), len(n.Transitions))
	rows.Columns = stats.ColFirings | stats.ColTokens
	rows.Transitions[0].Firings = firings
	return &merge.View{Nets: []*merge.NetView{{Name: n.ID, Def: n, Rows: rows}}}
}

// startUplink returns an Uplink over a connection, what it publishes, and its log.
func startUplink(t *testing.T, nc *nats.Conn, cfg Config) (*Uplink, func() *telemetry.Snapshot, *bytes.Buffer) {
	t.Helper()
	sub, err := nc.SubscribeSync(space(t, "up").Snapshots())
	if err != nil {
		t.Fatal(err)
	}
	log := &bytes.Buffer{}
	cfg.Conn = nc
	cfg.Subjects = space(t, "up")
	cfg.Source = "below"
	cfg.Interval = beat
	cfg.Log = slog.New(slog.NewTextHandler(log, nil))
	u, err := New(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := u.close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	var dec telemetry.Decoder
	return u, func() *telemetry.Snapshot {
		t.Helper()
		m, err := sub.NextMsg(enough)
		if err != nil {
			t.Fatal(err)
		}
		var msg telemetry.Snapshot
		if err := dec.DecodeMsg(cfg.Subjects, m, &msg); err != nil {
			t.Fatal(err)
		}
		return &msg
	}, log
}

// What is published is of the epoch, fence and time that were given. A definition that
// grows takes its rows with it, in the same epoch; one that cannot be published is
// logged once, and the previous one stays published.
func TestADefinitionGrowsInTheSameEpoch(t *testing.T) {
	nc := startServer(t)
	epoch := time.Now().Add(time.Hour).UnixMicro()
	u, next, log := startUplink(t, nc, Config{Since: 7, Epoch: epoch, Fence: 9})
	u.show(viewOf(order("inbox"), 3))
	first := next()
	if first.Epoch != epoch || first.Fence != 9 || first.Since != 7 || first.Region != "up/below" || first.Source != "below" ||
		len(first.Rows.Places) != 1 || first.Rows.Transitions[0].Firings != 3 {
		t.Fatalf("got %+v; want the first full snapshot with one place and 3 firings", first)
	}
	u.show(viewOf(order("inbox", "done"), 5))
	grown := next()
	for seen := 1; grown.Digest == first.Digest; seen++ {
		if seen == 20 || grown.Full && (len(grown.Rows.Places) != 1 || grown.Rows.Transitions[0].Firings != 3) {
			t.Fatalf("got %+v as snapshot %d; want one with the new place within 20", grown, seen)
		}
		grown = next()
	}
	if grown.Epoch != epoch || grown.Seq <= first.Seq || !grown.Full || len(grown.Rows.Places) != 2 || grown.Rows.Transitions[0].Firings != 5 {
		t.Fatalf("got %+v; want a full snapshot of epoch %d with two places and 5 firings", grown, epoch)
	}
	// "ship" is a place and a transition: that is no net.
	u.show(viewOf(order("inbox", "done", "ship"), 6))
	u.show(viewOf(order("inbox", "done", "ship"), 6))
	n, why := u.nets["order"], pnml.Write(io.Discard, order("inbox", "done", "ship"))
	if lines := strings.Count(log.String(), "publish to the collector above"); lines != 1 || why == nil || n.lastErr != why.Error() {
		t.Errorf("%d lines, %q instead of %v:\n%s", lines, n.lastErr, why, log)
	}
	u.show(viewOf(order("inbox", "done"), 8))
	for last := next(); ; last = next() {
		if last.Digest != grown.Digest || last.Epoch != epoch {
			t.Fatalf("got %+v; want digest %s and epoch %d", last, grown.Digest, epoch)
		}
		if len(last.Rows.Transitions) == 1 && last.Rows.Transitions[0].Firings == 8 {
			break
		}
	}
	// It is fewer places than are published.
	u.show(viewOf(order("inbox"), 9))
	if n := strings.Count(log.String(), "publish to the collector above"); n != 2 || !strings.Contains(log.String(), "redefine net") {
		t.Errorf("%d lines:\n%s", n, log)
	}
	if s := u.Stats(); s.Nets != 1 || s.Messages == 0 {
		t.Errorf("got %+v; want one net and some messages", s)
	}
}

// Without a connection a net is tried again with the next
// View.
func TestANetIsPublishedOnceConnected(t *testing.T) {
	nc := startServer(t)
	u, next, log := startUplink(t, nc, Config{Epoch: 1, Fence: 1, Since: 1})
	u.cfg.Conn = nil
	net := order("inbox") // one definition, in all Views
	for range 3 {
		u.show(viewOf(net, 3))
	}
	if s := u.Stats(); s.Nets != 0 || strings.Count(log.String(), "publish to the collector above") != 1 {
		t.Fatalf("got %+v and the log %s; want no net and one logged error", s, log)
	}
	u.cfg.Conn = nc
	u.show(viewOf(net, 4))
	if msg := next(); msg.Rows.Transitions[0].Firings != 4 || u.Stats().Nets != 1 {
		t.Fatalf("got %+v; want 4 firings of one net", msg)
	}
}

// While the rows of a new View do not fit what is published, those of the View before
// are published; if neither fit, none are.
func TestRowsAreOfTheDefinitionThatIsPublished(t *testing.T) {
	small, large := viewOf(order("inbox"), 3), viewOf(order("inbox", "done"), 5)
	for what, c := range map[string]struct {
		view, last *merge.View
		want       uint64
	}{
		"the View":                 {small, large, 3},
		"the one before":           {large, small, 3},
		"neither":                  {large, large, 0},
		"a View without a net":     {&merge.View{}, small, 3},
		"none was there before":    {large, nil, 0},
		"none before, and it fits": {small, nil, 3},
	} {
		n := &uplinkNet{name: "order", view: c.view, last: c.last}
		into := stats.NewRows(1, 1)
		err := n.fill(into)
		if into.Transitions[0].Firings != c.want || errors.Is(err, merge.ErrOtherSize) != (c.want == 0) || (err == nil) != (c.want != 0) {
			t.Errorf("%s: %d firings, %v", what, into.Transitions[0].Firings, err)
		}
	}
}

// A definition is written once, not with every View that has it.
func TestADefinitionIsWrittenOnce(t *testing.T) {
	var places []string
	for i := range 500 {
		places = append(places, fmt.Sprint("place ", i))
	}
	natstest.Bubble(t, func(t *testing.T) {
		u, _, _ := startUplink(t, natstest.Connect(t, natstest.Run(t)), Config{Epoch: 1, Fence: 1, Since: 1})
		view := viewOf(order(places...), 3)
		u.show(view)
		if n := testing.AllocsPerRun(5, func() { u.show(view) }); n >= float64(len(places)) {
			t.Errorf("%v allocations for a View of the same definition", n)
		}
	})
}

// The counters are those of all nets: rows that were unavailable, and those that were
// due while the connection was down. A last message that cannot be sent is logged.
func TestTheSumsAreThoseOfAllNets(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		nc := natstest.Connect(t, natstest.Run(t))
		u, _, log := startUplink(t, nc, Config{Epoch: 1, Fence: 1, Since: 1})
		other := order("inbox")
		other.ID = "other"
		u.show(viewOf(order("inbox"), 3))
		time.Sleep(4*beat + beat/2) // the second net starts between two beats of the first
		both := viewOf(other, 4)
		both.Nets = append(both.Nets, viewOf(order("inbox"), 3).Nets...)
		u.show(both)
		time.Sleep(3*beat + beat/4)
		if s := u.Stats(); s.Nets != 2 || s.Messages != 8+4 || s.Bytes == 0 || s.Errors != 0 || s.Missed != 0 {
			t.Errorf("while all is well: %+v", s)
		}
		u.nets["order"].forget()
		time.Sleep(2 * beat)
		u.nets["other"].forget()
		time.Sleep(beat)
		if s := u.Stats(); s.Messages != 12+2 || s.Errors != 3+1 || s.Missed != 0 {
			t.Errorf("while nets are not known: %+v", s)
		}
		nc.Close()
		time.Sleep(3 * beat)
		if s := u.Stats(); s.Messages != 14 || s.Errors != 4 || s.Missed != 3+3 {
			t.Errorf("without a connection: %+v", s)
		}
		if err := u.close(t.Context()); err != nil || strings.Count(log.String(), "cannot send the last message to the collector above") != 2 {
			t.Errorf("got error %v and the log %s; want two logged errors", err, log)
		}
	})
}

// A net that leaves the View ends: the collector above sees its source leave, and
// what was counted of its messages stays. It may return.
func TestANetThatLeavesTheViewEnds(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		u, _, log := startUplink(t, natstest.Connect(t, natstest.Run(t)), Config{Epoch: 1, Fence: 1, Since: 1})
		u.show(viewOf(order("inbox"), 3))
		time.Sleep(2*beat + beat/2)
		before := u.Stats()
		u.show(&merge.View{})
		if s := u.Stats(); s.Nets != 0 || s.Messages < before.Messages || len(u.nets) != 0 || strings.Contains(log.String(), "cannot") {
			t.Errorf("got %+v, %d nets and the log %s; want none, and no fewer messages than %d", s, len(u.nets), log, before.Messages)
		}
		u.show(viewOf(order("inbox"), 1))
		time.Sleep(beat)
		if s := u.Stats(); s.Nets != 1 {
			t.Errorf("after its return: %+v; want one net", s)
		}
		if err := u.close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// forget makes the rows of the net unknown.
func (n *uplinkNet) forget() {
	n.mu.Lock()
	n.view, n.last = &merge.View{}, nil
	n.mu.Unlock()
}
