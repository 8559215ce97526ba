// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/pnagent/pnagent/telemetry"
)

// A snapshot for which there is no memory is requested again with its definition.
// Others that wait keep their place, and the place of those that left is free again.
func TestSnapshotsThatWaitHaveABudgetOfBytes(t *testing.T) {
	const places = 100
	whole := bytesOf(&randomSource(rand.New(rand.NewPCG(1, 1)), "a", places, 1, t0).Rows)
	m := NewMerger(Rules{Limits: Limits{WaitingBytes: 2*whole + whole/2}}, t0)
	take := func(i int, seq uint64) ([]Ask, error) {
		msg := randomSource(rand.New(rand.NewPCG(1, 1)), "a", places, 1, t0)
		msg.Net, msg.Digest, msg.Source, msg.Seq = fmt.Sprint("net-", i), "d", fmt.Sprint("source-", i), seq
		return m.Take(msg, 0, t0)
	}
	for i := range 4 {
		asks, err := take(i, 1)
		if want := telemetry.Reason(map[bool]string{true: string(TooManyWaiting)}[i >= 2]); telemetry.ReasonOf(err) != want || len(asks) != 1 || asks[0].Digest != "d" {
			t.Errorf("source %d: got %v, %v; want the reason %q, and its definition requested", i, asks, err, want)
		}
	}
	if _, err := take(0, 2); err != nil { // instead of its first
		t.Errorf("got %v for the second snapshot of a source that waits; want it kept", err)
	}
	if m.waiting != 2*whole {
		t.Errorf("got %d bytes; want two snapshots of %d", m.waiting, whole)
	}
	v, _ := m.Tick(t0 + 1e6)
	if v.States[Refused] != 0 || m.waiting != 2*whole {
		t.Errorf("got states %v, %d bytes; want none refused, and two snapshots", v.States, m.waiting)
	}
	for i, want := range []string{"", "", "source-2", "source-3"} {
		net := lineNet(fmt.Sprint("net-", i), places, 1)
		asks, err := m.Define("d", net, t0+1e6)
		if err != nil {
			t.Fatal(err)
		}
		if want == "" && len(asks) != 0 || want != "" && (len(asks) != 1 || asks[0].Source != want) {
			t.Errorf("got %v once net-%d is defined; want a full snapshot requested of %q", asks, i, want)
		}
	}
	m.Tick(t0 + 2e6)
	if m.waiting != 0 {
		t.Errorf("got %d bytes once all is defined; want 0", m.waiting)
	}
}

// A part of a net that is known reserves memory for all of its rows.
func TestANetInPartsIsWithinTheBudget(t *testing.T) {
	m := NewMerger(Rules{Limits: Limits{WaitingBytes: emptyBytes(100, 1) - 1}}, t0)
	if _, err := m.Define("d", lineNet("n", 100, 1), t0); err != nil {
		t.Fatal(err)
	}
	msg := randomSource(rand.New(rand.NewPCG(1, 1)), "a", 100, 1, t0)
	msg.Net, msg.Digest, msg.Full = "n", "d", false
	msg.PlaceIndex, msg.TransitionIndex = []uint32{0}, nil
	msg.Rows.Places, msg.Rows.Transitions, msg.Rows.Blocks, msg.Rows.Queues = msg.Rows.Places[:1], nil, nil, nil
	if _, err := m.Take(msg, 0, t0); telemetry.ReasonOf(err) != TooManyWaiting {
		t.Errorf("got %v; want the reason %q", err, TooManyWaiting)
	}
}
