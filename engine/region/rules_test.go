// SPDX-License-Identifier: Apache-2.0

package region

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/journal"
)

// Processes of different versions play one net, so all must compute the same
// order.
func TestTheOrderOfMembersNeverChanges(t *testing.T) {
	for part, want := range map[string]string{
		"p0": "host-0 host-2 host-5 host-6 host-1 host-7 host-3 host-4", "p1": "host-7 host-0 host-1 host-5 host-3 host-4 host-2 host-6", "desk": "host-5 host-3 host-4 host-2 host-1 host-0 host-6 host-7", "warehouse": "host-1 host-5 host-6 host-4 host-0 host-2 host-7 host-3",
	} {
		if got := strings.Join(rank(part, memberNames(8)), " "); got != want {
			t.Errorf("%s: %s; want %s", part, got, want)
		}
	}
}

func TestAMemberNeedsAConnectionLogsOneNetAndParts(t *testing.T) {
	whole := memberOf(t, "m").cfg
	for missing, change := range map[string]func(*Config){
		"a connection":      func(c *Config) { c.Conn = nil },
		"logs":              func(c *Config) { c.Open = nil },
		"a net":             func(c *Config) { c.Engine.Nets = nil },
		"parts":             func(c *Config) { c.Parts = nil },
		"less parts":        func(c *Config) { c.Parts = slices.Repeat(c.Parts[:1], maxParts+1) },
		"a count of others": func(c *Config) { c.Standbys = -1 },
	} {
		cfg := whole
		change(&cfg)
		if _, err := New(cfg); !errors.Is(err, engine.ErrConfig) {
			t.Errorf("without %s: %v; want ErrConfig", missing, err)
		}
	}
	whole.Parts = slices.Repeat(whole.Parts[:1], maxParts)
	if _, err := New(whole); err != nil {
		t.Errorf("%d parts: %v", maxParts, err)
	}
}

func TestABeatMayHaveAsManyCursorsAsThereMayBeParts(t *testing.T) {
	for n, want := range map[int]bool{maxParts: true, maxParts + 1: false} {
		cursors, marks := map[string]uint64{}, map[string]engine.Mark{}
		for i := range n {
			cursors[fmt.Sprint(i)], marks[fmt.Sprint(i)] = 1, 1
		}
		for name, p := range map[string]BeatPart{"cursors": {Cursors: cursors}, "marks": {Marks: marks}} {
			p.Part, p.Role = "p", Owner
			message, err := (&Beat{Source: "a", Parts: []BeatPart{p}}).encode()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := decodeBeat(message); (err == nil) != want {
				t.Errorf("%d %s: %v; want accepted: %t", n, name, err, want)
			}
		}
	}
}

// Errors that do not depend on the content of a log end a process at once.
func TestWhichFaultsEndAProcessAtOnce(t *testing.T) {
	for err, want := range map[error]bool{
		engine.ErrConfig: true, ErrUnusable: true, nats.ErrConnectionClosed: true,
		engine.ErrJournal: false, engine.ErrReplay: false, journal.ErrAhead: false,
	} {
		if got := final(fmt.Errorf("somewhere: %w", err)); got != want {
			t.Errorf("%v: %t; want %t", err, got, want)
		}
	}
}

func TestLogsAgreeWhereTheirChainsWereTheSame(t *testing.T) {
	beat := func(source string, role Role, position uint64, chain string, round engine.Mark) *Beat {
		return &Beat{Source: source, Parts: []BeatPart{{Part: "p", Role: role, Epoch: 1, Position: position, Chain: chain, Round: round}}}
	}
	yes, no := true, false
	for name, c := range map[string]struct {
		beats []*Beat
		want  *bool
	}{
		"the same at one commit":    {[]*Beat{beat("a", Owner, 3, "0a", 0), beat("b", Standby, 3, "0a", 0)}, &yes},
		"another one at one commit": {[]*Beat{beat("a", Owner, 3, "0a", 0), beat("b", Standby, 3, "0b", 0)}, &no},
		"never at the same commit":  {[]*Beat{beat("a", Owner, 3, "0a", 0), beat("b", Standby, 2, "0a", 0)}, nil},
		"there one after the other": {[]*Beat{beat("a", Owner, 3, "0a", 0), beat("b", Standby, 2, "0c", 0), beat("a", Owner, 4, "0b", 0),
			beat("b", Standby, 3, "0a", 0)}, &yes},
		"the same at one round":     {[]*Beat{beat("a", Owner, 1500, "0a", 7), beat("b", Standby, 1499, "0b", 7)}, &yes},
		"another one at one round":  {[]*Beat{beat("a", Owner, 1500, "0a", 7), beat("b", Standby, 1499, "0b", 8)}, &no},
		"in different rounds":       {[]*Beat{beat("a", Owner, 1500, "0a", 7), beat("b", Standby, 900, "0b", 8)}, nil},
		"a round that one has read": {[]*Beat{beat("a", Owner, 1500, "0a", 7), beat("b", Standby, 1499, "0b", 0)}, nil},
	} {
		s := surveyor{parts: map[string]map[string]BeatPart{}, marks: map[string]map[uint64]map[string]engine.Mark{}}
		for _, b := range c.beats {
			s.receive(b)
		}
		got := s.statuses()[0].Standbys[0].Agrees
		if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%s: %v; want %v", name, got, c.want)
		}
	}
}
