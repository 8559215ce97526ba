// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/pnagent/pnagent/e2e/kit"
)

// owners waits until a sidecar shows this source of each part as up, and as its
// owner of this number, and no token twice.
func (f *fleet) owners(side *kit.Sidecar, source string, fence uint64) {
	f.t.Helper()
	kit.Until(f.t, fmt.Sprintf("%s has each part with number %d", source, fence), func() error {
		var v struct {
			Nets    []struct{ Places []struct{ Tokens uint64 } }
			Sources []struct {
				Name, State, Reason string
				Fence               uint64
			}
		}
		if err := json.Unmarshal(side.Page(f.t, "/api/v1/view"), &v); err != nil {
			return err
		}
		up, tokens := 0, uint64(0)
		for _, s := range v.Sources {
			for _, part := range f.parts() {
				if s.Name == source+"/"+part && s.State == "up" && s.Fence == fence {
					up++
				}
			}
		}
		for _, n := range v.Nets {
			for _, p := range n.Places {
				tokens += p.Tokens
			}
		}
		if most := uint64(3 * f.instances); up != len(f.parts()) || tokens == 0 || tokens > most { // less while some cross
			return fmt.Errorf("%d tokens of %d: %+v", tokens, most, v.Sources)
		}
		return nil
	})
}

// NATS loses all that it stored, and the parts begin with their initial marking. The
// fences of their owners begin at 1 again, and the sidecar takes them.
//
//promise:counters lostlog
func TestASidecarTakesOwnersOfLogsThatWereCreatedAgain(t *testing.T) {
	t.Parallel()
	js := startJetStream(t, nil)
	f := newFleet(t, func() string { return js.url }, circle(), 5, 0)
	side := kit.Serve(t, js.url)
	for n, source := range []string{"a", "b", "c"} {
		p := f.start(source)
		f.goesOn()
		f.owners(side, source, uint64(n+1))
		p.Kill(t)
	}
	streams, err := jetstream.New(f.conn)
	if err != nil {
		t.Fatal(err)
	}
	for name := range streams.StreamNames(t.Context()).Name() {
		if err := streams.DeleteStream(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	again := f.start("a")
	f.goesOn()
	f.owners(side, "a", 1)
	f.conserves(again)
}
