// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/engine/action"
	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/petri/petritest"
)

// A firing that puts more than a commit of the journal may hold is there again
// as a whole, and one whose last part never came not at all.
func TestALargeCommitIsWrittenInParts(t *testing.T) {
	const tokens = 20 // of 1 MiB each, beyond journal.MaxCommit
	dir := t.TempDir()
	net := petritest.Ring(2)
	net.Places[0].Initial, net.Transitions, net.Arcs = 0, net.Transitions[:1], net.Arcs[:2]
	floods := func(_ context.Context, _ *action.Run) (coloured.Outcome, error) {
		var o coloured.Outcome
		for i := range tokens {
			o.Puts = append(o.Puts, coloured.Put{Place: 1, Data: bytes.Repeat([]byte{byte(i)}, coloured.MaxData)})
		}
		return o, nil
	}
	open := func() (*Engine, *journal.File) {
		f, warnings, err := journal.Open(dir, journal.Options{})
		if err != nil || len(warnings) > 0 {
			t.Fatal(err, warnings)
		}
		e := newEngine(t, Config{Source: "s", Nets: []NetConfig{{Tables: petritest.Compile(t, net), Transitions: []Transition{{Action: floods}}}}, Instances: 1, Workers: 1, Journal: f})
		return e, f
	}
	sizes := func(tokens map[int][]coloured.Placed) (sizes []int) {
		for _, p := range tokens[0] {
			if p.Place != 1 || len(bytes.Trim(p.Token.Data, string(p.Token.Data[:1]))) > 0 {
				t.Errorf("a token in place %d, of more than one byte's value", p.Place)
			}
			sizes = append(sizes, len(p.Token.Data))
		}
		return sizes
	}

	e, f := open()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	if err := e.Inject(ctx, "ring-2", 0, "p0", 1); err != nil {
		t.Fatal(err)
	}
	for {
		m, err := e.Marking(ctx, "ring-2", 0)
		if err != nil {
			t.Fatal(err)
		}
		if m[1] == tokens {
			break
		}
	}
	want := sizes(tokensByInstance(t, e))
	e.recorder.mu.Lock()
	e.recorder.failed = errGone // no snapshot at the end
	e.recorder.mu.Unlock()
	stop()
	if err := <-ended; !errors.Is(err, errGone) {
		t.Fatal(err)
	}
	// A crash in the middle of another one.
	if _, err := f.Append(t.Context(), f.Last(), []byte{0, partFirst, 1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	e, f = open()
	if diff := cmp.Diff(want, sizes(tokensOfStill(e))); diff != "" {
		t.Errorf("-before +after\n%s", diff)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestPartsThatDoNotFitAreRefused(t *testing.T) {
	for name, entries := range map[string][][]byte{
		"the middle first":  {{0, partMore, 1}},
		"the end first":     {{0, partLast, 1}},
		"no part that is":   {{0, partFirst, 1}, {0, 9, 1}},
		"after a whole one": {{0, partFirst, 1}, {7, 7}, {0, partLast, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			var j joiner
			var failed error
			for _, e := range entries {
				_, err := j.add(e)
				failed = errors.Join(failed, err)
			}
			if !errors.Is(failed, ErrReplay) {
				t.Errorf("%v; expected ErrReplay", failed)
			}
		})
	}
}
