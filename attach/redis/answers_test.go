// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/telemetry"
)

// said is a server that answers with lines: a number, a text, nothing, or a list of the
// lines that follow.
type said struct {
	replayed
	lines []string
}

func (s *said) line() string {
	if len(s.lines) == 0 {
		return ""
	}
	line := s.lines[0]
	s.lines = append(s.lines[1:], line)
	return line
}

func (s *said) do(_ context.Context, commands [][]string) (out []any, err error) {
	for range commands {
		out = append(out, s.value(2))
	}
	return out, nil
}

func (s *said) value(depth int) any {
	line := s.line()
	if n, err := strconv.ParseInt(line, 10, 64); err == nil {
		return n
	}
	if list, is := strings.CutPrefix(line, "*"); is && depth > 0 {
		n, _ := strconv.Atoi(list)
		all := make([]any, min(max(n, 0), 20))
		for i := range all {
			all[i] = s.value(depth - 1)
		}
		return all
	}
	if line == "nil" {
		return nil
	}
	return line
}

// Whatever Redis answers, a poll of each system ends, and what it finds can be published.
func FuzzAnswers(f *testing.F) {
	f.Add("*4\n1\n2\nx\nnil\n{\"queue\":\"a\",\"jid\":\"b\",\"retry_count\":1e300}\n1795987131358\n*2\n7348362e9\n3")
	f.Add("*10\n1795987131358.5\n2026-11-29T21:18:51.5Z\n[1,{}]\n{}\n\n-5\n9223372036854775807")
	f.Fuzz(func(t *testing.T, text string) {
		for _, system := range Systems() {
			r := reader{server: &said{lines: strings.Split(text, "\n")}, system: system, prefix: system.Prefix, only: []string{"a", "b"}, detail: true, within: time.Minute}
			all, _, err := r.poll(t.Context(), 1795987131358000)
			if err != nil {
				continue // it asks again and again for what changes
			}
			for _, f := range all {
				for _, p := range f.places {
					for _, j := range p.jobs {
						if j.since < 0 || j.since > telemetry.MaxTime || j.why.Until < 0 || j.why.Until > telemetry.MaxTime {
							t.Errorf("%s of %s: a time of %d, until %d", j.id, system.Name, j.since, j.why.Until)
						}
					}
				}
			}
		}
	})
}

// The address must be complete, and say what is at it.
func TestAccess(t *testing.T) {
	for want, a := range map[string]Access{
		"no address of Redis; expected HOST:PORT":                                                          {},
		"the address of Redis: address redis: missing port in address; expected HOST:PORT":                 {Addresses: []string{"redis"}},
		"several addresses of Redis; expected one, or sentinels with the name of the server, or a cluster": {Addresses: []string{"a:1", "b:1"}},
		"a cluster has the database 0 alone, and no sentinels":                                             {Addresses: []string{"a:1"}, Cluster: true, DB: 1},
	} {
		if _, err := Dial(a); err == nil || err.Error() != want {
			t.Errorf("%+v: %v; expected %s", a, err, want)
		}
	}
}

// Of names that cannot be published, and of more queues than a poll reads, the rest is left out.
func TestReadableQueues(t *testing.T) {
	many := []string{"all-queues", "\x01", strings.Repeat("x", 5000)}
	for i := range maxQueues + 5 {
		many = append(many, strconv.Itoa(i))
	}
	if got := readable(many); len(got) != maxQueues || got[0] != "0" || got[1] != "1" {
		t.Errorf("%d queues, %.10q; expected the first %d", len(got), got, maxQueues)
	}
}

// A job without a time is as old as its first look, also after a restart, and so is one whose time is
// forgotten. Those that are gone are forgotten.
func TestAJobWithoutATimeCountsFromItsFirstLook(t *testing.T) {
	a := &Adapter{state: state{Seen: map[string]int64{"old": 5, "gone": 6}}}
	seen := map[string]int64{}
	for _, c := range []struct {
		id          string
		since, want int64
	}{{"old", 0, 5}, {"new", 0, 10}, {"old", 7, 5}, {"timed", 8, 8}} {
		if got := a.first(c.id, c.since, 10, seen); got != c.want || seen[c.id] != c.want {
			t.Errorf("%s came at %d; expected %d", c.id, got, c.want)
		}
	}
	if len(seen) != 3 {
		t.Errorf("%v are kept; expected the three that are there", seen)
	}
}

// Jobs that have succeeded are counted from the first poll on, also those that do while the adapter does
// not run. A system whose count is less has begun again.
func TestJobsThatHaveSucceeded(t *testing.T) {
	a := &Adapter{nets: map[string]*queueNet{}, state: state{Done: map[string]int64{"b": 10}}}
	a.Source = &ledger.Source{}
	for _, c := range []struct {
		queue string
		done  int64
		want  uint64
	}{{"a", 100, 0}, {"a", 103, 3}, {"a", 103, 3}, {"a", 2, 5}, {"b", 14, 4}, {"c", -1, 0}} {
		f := &found{queue: c.queue, done: c.done, places: []place{{id: waiting}}}
		n := a.net(f)
		a.count(n, f)
		if _, _, got := n.Counts(-1, 0); got != c.want {
			t.Errorf("%s: %d firings after %d; expected %d", c.queue, got, c.done, c.want)
		}
	}
}
