// SPDX-License-Identifier: Apache-2.0

package region

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/telemetry"
)

// Status is the state of one part, as its members publish it.
type Status struct {
	Part     string          `json:"part"`
	Owner    string          `json:"owner,omitempty"` // left out if no member owns the part
	Epoch    uint64          `json:"epoch"`
	Commits  uint64          `json:"commits"` // in its log
	Standbys []StandbyStatus `json:"standbys"`
	Away     []string        `json:"away"`              // members that may follow it but do not
	Stopped  string          `json:"stopped,omitempty"` // why its owner does not play it, or no process can own it
}

// StandbyStatus is the position of a standby.
type StandbyStatus struct {
	Source  string `json:"source"`
	Commits uint64 `json:"commits"` // that it has read
	Lag     uint64 `json:"lag"`     // commits that it has not read
	// Agrees reports whether its log is the owner's, by the marks of commits
	// that both have published. It is left out if there was none.
	Agrees *bool `json:"agrees,omitempty"`
}

// Survey receives the beats of a net until ctx ends and returns the state of
// each part, by name.
func Survey(ctx context.Context, nc *nats.Conn, subjects telemetry.Subjects, net string) ([]Status, error) {
	messages := make(chan *nats.Msg, 4096)
	sub, err := nc.ChanSubscribe(Subject(subjects, net), messages)
	if err != nil {
		return nil, fmt.Errorf("subscribing to the members of net %q: %w", net, err)
	}
	defer func() { _ = sub.Unsubscribe() }() // fails only where the connection is closed
	s := surveyor{parts: map[string]map[string]BeatPart{}, marks: map[string]map[uint64]map[string]engine.Mark{}}
	for {
		select {
		case msg := <-messages:
			if b, err := decodeBeat(msg.Data); err == nil {
				s.receive(b)
			}
		case <-ctx.Done():
			return s.statuses(), nil
		}
	}
}

// surveyor collects beats.
type surveyor struct {
	parts map[string]map[string]BeatPart               // the last status, by part and source
	marks map[string]map[uint64]map[string]engine.Mark // of the logs, by part, commit and source
}

func (s *surveyor) receive(b *Beat) {
	for _, p := range b.Parts {
		if s.parts[p.Part] == nil {
			s.parts[p.Part], s.marks[p.Part] = map[string]BeatPart{}, map[uint64]map[string]engine.Mark{}
		}
		s.parts[p.Part][b.Source] = p
		if p.Role == Away {
			continue
		}
		if p.Round != 0 {
			s.note(p.Part, b.Source, engine.Cursor{Position: p.Position - p.Position%engine.RoundOf, Mark: p.Round})
		}
		if at := (&engine.Standing{Position: p.Position, Chain: p.Chain}).At(); at.Mark != 0 {
			s.note(p.Part, b.Source, at)
		}
	}
}

// note records the mark that a source has published of the log of a part.
func (s *surveyor) note(part, source string, at engine.Cursor) {
	marks := s.marks[part]
	if marks[at.Position] == nil {
		marks[at.Position] = map[string]engine.Mark{}
	}
	marks[at.Position][source] = at.Mark
}

func (s *surveyor) statuses() []Status {
	out := []Status{}
	for _, part := range slices.SortedFunc(maps.Keys(s.parts), byNumber) {
		st := Status{Part: part, Standbys: []StandbyStatus{}, Away: []string{}}
		for source, p := range s.parts[part] {
			if p.Role == Owner && p.Epoch >= max(st.Epoch, 1) {
				st.Owner, st.Epoch, st.Commits, st.Stopped = source, p.Epoch, p.Position, p.Stopped
			}
		}
		for _, source := range slices.Sorted(maps.Keys(s.parts[part])) {
			p := s.parts[part][source]
			switch p.Role {
			case Away:
				st.Away = append(st.Away, source)
				if st.Owner == "" && st.Stopped == "" {
					st.Stopped = p.Stopped
				}
			case Standby:
				st.Epoch, st.Commits = max(st.Epoch, p.Epoch), max(st.Commits, p.Position)
				st.Standbys = append(st.Standbys, StandbyStatus{Source: source, Commits: p.Position, Agrees: s.agree(part, st.Owner, source)})
			}
		}
		for i := range st.Standbys {
			st.Standbys[i].Lag = st.Commits - st.Standbys[i].Commits
		}
		out = append(out, st)
	}
	return out
}

// agree compares the marks of two members at commits that both have published.
func (s *surveyor) agree(part, owner, standby string) *bool {
	var same *bool
	for _, marks := range s.marks[part] {
		a, b := marks[owner], marks[standby]
		if a == 0 || b == 0 {
			continue
		}
		if a != b {
			return new(false)
		}
		same = new(true)
	}
	return same
}

// byNumber orders p2 before p10.
func byNumber(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// SurveyFor is how long a survey needs to receive a beat of every member.
const SurveyFor = 500 * time.Millisecond
