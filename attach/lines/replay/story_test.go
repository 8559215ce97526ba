// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// Each file of testdata is a story: a net, the events of each second, and the expected state.
func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/*.story")
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no stories")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".story"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := &story{limit: 100}
			for k, line := range strings.Split(string(text), "\n") {
				if words := strings.Fields(line); len(words) > 0 && words[0] != "#" {
					if err := s.line(words); err != nil {
						t.Errorf("%s:%d: %q: %v", file, k+1, line, err)
					}
				}
			}
		})
	}
}

const second = 1_000_000

type story struct {
	limit       int
	endsByEvent bool
	r           *Replay
	net         *petri.Net
	now         int64
}

func (s *story) line(words []string) error {
	switch words[0] {
	case "limit":
		s.limit = number(words[1])
		return nil
	case "ends-by-event":
		s.endsByEvent = true
		return nil
	case "net":
		s.net = netOf(strings.Join(words[1:], " "))
		tables, err := petri.Compile(s.net)
		if err != nil {
			return err
		}
		silent := make([]bool, tables.Transitions())
		for i, tr := range s.net.Transitions {
			silent[i] = strings.HasPrefix(tr.ID, "tau ")
		}
		s.r = New(Config{Tables: tables, Silent: silent, Limit: s.limit, Search: 100, EndsByEvent: s.endsByEvent})
		return nil
	}
	if at, err := strconv.Atoi(words[0]); err == nil {
		s.now = int64(at) * second
		return s.tell(words[1], words[2], words[3:])
	}
	return s.holds(words)
}

func (s *story) tell(instance, what string, words []string) error {
	switch what {
	case "fire":
		i, _ := s.r.tables.TransitionIndex(strings.Join(words, " "))
		s.r.Fire([]byte(instance), i, s.now)
	case "put":
		i, _ := s.r.tables.PlaceIndex(words[0])
		s.r.Put([]byte(instance), i, int64(number(words[1])), s.now)
	case "end":
		s.r.End([]byte(instance), s.now)
	default:
		return fmt.Errorf("no event %q", what)
	}
	for p, m := range s.r.marking {
		if m != 0 {
			return fmt.Errorf("Replay.marking still has %[2]d tokens in place %[1]d", p, m)
		}
	}
	return nil
}

// holds checks one expectation.
func (s *story) holds(words []string) error {
	rows := stats.NewRows(s.r.tables.Places(), s.r.tables.Transitions())
	s.r.Look(s.now, rows)
	c := s.r.Counts
	counts := map[string]uint64{"events": c.Events, "unfit": c.Unfit, "silent": c.Silent, "late": c.Late, "evicted": c.Evicted, "refused": c.Refused, "missing": c.Missing,
		"remaining": c.Remaining, "produced": c.Produced, "consumed": c.Consumed,
		"open": rows.Net.Active, "finished": rows.Net.Finished, "failed": rows.Net.Failed}
	switch n, is := counts[words[0]]; {
	case is:
		return want(n, uint64(number(words[1])))
	case words[0] == "fitness":
		return want(strconv.FormatFloat(c.Fitness(), 'g', -1, 64), words[1])
	case words[0] == "dwell":
		p, _ := s.r.tables.PlaceIndex(words[1])
		return want(rows.Places[p].Dwell.Sum/second, uint64(number(words[2])))
	}
	p, ok := s.r.tables.PlaceIndex(words[0])
	if !ok {
		return fmt.Errorf("no expectation")
	}
	if err := want(rows.Places[p].Tokens, uint64(number(words[1]))); err != nil || len(words) < 4 {
		return err
	}
	return want(rows.Places[p].Oldest/second, int64(number(words[3])))
}

func want[T comparable](got, want T) error {
	if got != want {
		return fmt.Errorf("it is %v", got)
	}
	return nil
}

func number(word string) int {
	n, err := strconv.Atoi(word)
	if err != nil {
		panic(err)
	}
	return n
}

// netOf parses "t: p* q -2> r; …": transitions with the places before and after
// the arrow; * marks a place with a token, the number in the arrow is the
// weight of all arcs before it, and "p o>" is an inhibitor.
func netOf(text string) *petri.Net {
	n := &petri.Net{ID: "story"}
	place := func(id string) string {
		id, marked := strings.CutSuffix(id, "*")
		for k := range n.Places {
			if n.Places[k].ID == id {
				return id
			}
		}
		p := petri.Place{ID: id}
		if marked {
			p.Initial = 1
		}
		n.Places = append(n.Places, p)
		return id
	}
	for part := range strings.SplitSeq(text, ";") {
		id, arcs, _ := strings.Cut(strings.TrimSpace(part), ":")
		n.Transitions = append(n.Transitions, petri.Transition{ID: id})
		var before []string
		behind := false
		for _, word := range strings.Fields(arcs) {
			switch {
			case word == "o>":
				last := len(before) - 1
				n.Arcs = append(n.Arcs, petri.Arc{Source: before[last], Target: id, Kind: petri.Inhibitor, Weight: 1})
				before = before[:last]
			case strings.HasSuffix(word, ">"):
				weight := max(1, weightOf(strings.Trim(word, "->")))
				for _, p := range before {
					n.Arcs = append(n.Arcs, petri.Arc{Source: p, Target: id, Weight: uint32(weight)})
				}
				behind = true
			case behind:
				n.Arcs = append(n.Arcs, petri.Arc{Source: id, Target: place(word), Weight: 1})
			default:
				before = append(before, place(word))
			}
		}
	}
	for k := range n.Arcs {
		n.Arcs[k].ID = fmt.Sprint("arc ", k)
	}
	return n
}

func weightOf(word string) int {
	n, _ := strconv.Atoi(word) // no number means 1
	return n
}
