// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what mappings make of the scrapes in testdata")

// The tables in testdata/tables are the results of each shipped mapping for the
// scrape with its name. There is no scrape for pnagent's: e2e tests that with a
// sidecar.
func TestShippedMappingsFitTheirSystems(t *testing.T) {
	all, err := Mappings.All()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Error("no mapping is shipped")
	}
	for _, m := range all {
		if m.About == "" {
			t.Errorf("%s has no description", m.Name)
		}
		if m.Name == "pnagent" {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			text, err := os.ReadFile("testdata/" + m.Name + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if err := Explain(&got, m, bytes.NewReader(text), time.Unix(2e9, 0)); err != nil {
				t.Fatal(err)
			}
			file := "testdata/tables/" + m.Name + ".txt"
			if *update {
				if err := os.WriteFile(file, got.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if d := cmp.Diff(string(want), got.String()); err != nil || d != "" {
				t.Errorf("%v -want +got\n%s", err, d)
			}
		})
	}
}

// A collector can read every net of a shipped mapping, and its columns are
// known for all rows of the scrape.
func TestShippedMappingsKnowEveryColumnOfTheirScrape(t *testing.T) {
	all, err := Mappings.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		name := m.Name
		if name == "pnagent" {
			continue
		}
		text, err := os.ReadFile("testdata/" + name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		s := newState(m)
		all := scraped(t, string(text))
		s.apply(all, 100*second)
		if s.dropped != [numReasons]uint64{} {
			t.Errorf("%s: dropped %v", name, s.dropped)
		}
		for _, n := range s.nets {
			if _, err := n.definition(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			for column, rows := range n.missing(all) {
				if rows > 0 {
					t.Errorf("%s: %d rows of net %s without %s", name, rows, n.id, column)
				}
			}
		}
	}
}

func TestExplainReportsWhatIsAbsentAndWhy(t *testing.T) {
	m := mapping(t, "nets: {n: {places: {p: {tokens: a, oldest: [b, c]}, q: {tokens: d, oldest: b}}}}")
	var got strings.Builder
	if err := Explain(&got, m, strings.NewReader("a 3\nb{x=\"1\"} 60\nb{x=\"2\"} -Inf\n"), time.Unix(100, 0)); err == nil {
		t.Error("no column is known, and there is no error")
	}
	const want = `net "n"
  place  tokens  oldest
  p      3       1m0s ago
  q      ?       1m0s ago
  tokens is absent: 1 of 2 rows have none
net "n": no transition takes tokens from p, q, so they count as waiting; expected a transition with from, or end: true
not in the scrape: d
2 series not used: bad_value
`
	if d := cmp.Diff(want, got.String()); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}
