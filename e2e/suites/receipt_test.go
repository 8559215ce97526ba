// SPDX-License-Identifier: Apache-2.0

package suites

import (
	"context"
	"log/slog"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/attach/lines"
	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// receiptLog is the log of the receipt phase of an application for a permit, below the inputs
// of pm4py's tests.
func receiptLog(inputs string) string {
	return filepath.Join(filepath.Dir(inputs), "compressed_input_data", "08_receipt.xes.gz")
}

// receiptNet is a net of one variant of the log.
func receiptNet(inputs string) string { return filepath.Join(inputs, "receipt_one_variant.pnml") }

// The log of the receipt phase has a known fitness, and known times in place p4: the number of
// tokens that left it is exact, their mean time there to the second.
func TestReceiptLog(t *testing.T) {
	inputs := filepath.Join(suitesDir(t), "pm4py-core", "tests", "input_data")
	tables, err := readNet(receiptNet(inputs))
	if err != nil {
		t.Skip("no checkout of pm4py-core: ", err)
	}
	a, err := lines.New(lines.Config{Nets: []*petri.Tables{tables}, EndsByEvent: true, Held: 1000, Instances: 1_000_000, Search: 10_000,
		Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.TakeXES(t.Context(), receiptLog(inputs)); err != nil {
		t.Fatal(err)
	}
	if got := *a.Nets()[0].Fitness; math.Abs(got-0.9036) > 0.00005 {
		t.Errorf("fitness %.6f, want 0.9036", got)
	}
	place, _ := tables.PlaceIndex("p4")
	dwell := published(t, a).Places[place].Dwell
	if mean := float64(dwell.Sum) / float64(dwell.Count()) / 1e6; dwell.Count() != 798 || math.Round(mean) != 271_030 {
		t.Errorf("%d tokens left p4 after %.1f s on average, want 798 after 271030 s", dwell.Count(), mean)
	}
}

// published returns the rows of the first full snapshot of an attachment.
func published(t *testing.T, a *lines.Attachment) stats.Rows {
	nc, subjects := natstest.Client(t), telemetry.Subjects{}
	snapshots := make(chan *nats.Msg, 10)
	if _, err := nc.ChanSubscribe(subjects.Snapshots(), snapshots); err != nil {
		t.Fatal(err)
	}
	p, err := a.Publish(telemetry.Config{Conn: nc, Source: "log", Interval: time.Second, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Log(err)
		}
	})
	var s telemetry.Snapshot
	select {
	case m := <-snapshots:
		if err := new(telemetry.Decoder).DecodeMsg(subjects, m, &s); err != nil || !s.Full {
			t.Fatalf("full %t, error %v", s.Full, err)
		}
	case <-time.After(time.Minute):
		t.Fatal("no snapshot is published")
	}
	return s.Rows
}
