// SPDX-License-Identifier: Apache-2.0

package pnml

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/internal/racetest"
	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

func TestReadLimits(t *testing.T) {
	ok := net(`<place id="p"/><transition id="t"/><arc id="a" source="p" target="t"/>`)
	tests := []struct {
		rule, xml string
		lim       Limits
		want      string // "" if it is within
	}{
		{"as many bytes as allowed", ok, Limits{Bytes: int64(len(ok))}, ""},
		{"one byte more", ok, Limits{Bytes: int64(len(ok)) - 1}, "bytes in the file"},
		{"as deep as allowed", ok, Limits{Depth: 3}, ""},
		{"one deeper", ok, Limits{Depth: 2}, "elements inside each other"},
		{"fields that are not positive mean the default", ok, Limits{Bytes: -1, Token: -1, Depth: -1, Nodes: -1, Nets: -1}, ""},
		{"the largest limits", ok, Limits{Bytes: math.MaxInt64, Token: math.MaxInt, Depth: math.MaxInt, Nodes: math.MaxInt, Nets: math.MaxInt}, ""},
		{"the deepest limit", net(strings.Repeat("<page>", xmlscan.MaxDepth)), Limits{Depth: math.MaxInt}, "elements inside each other"},
		{"one deeper in what is skipped", net("<toolspecific><a/></toolspecific>"), Limits{Depth: 3}, "elements inside each other"},
		{"as many nodes as allowed", ok, Limits{Nodes: 3}, ""},
		{"one node more", ok, Limits{Nodes: 2}, "places, transitions, arcs and references"},
		{"references are nodes", net(`<referencePlace id="a" ref="b"/><referencePlace id="b" ref="c"/>`), Limits{Nodes: 1}, "places, transitions, arcs and references"},
		{"nodes count over all nets", `<pnml><net id="a"><place id="p"/></net><net id="b"><place id="p"/></net></pnml>`, Limits{Nodes: 1}, "places, transitions, arcs and references"},
		{"as many nets as allowed", `<pnml><net id="a"/><net id="b"/></pnml>`, Limits{Nets: 2}, ""},
		{"one net more", `<pnml><net id="a"/><net id="b"/></pnml>`, Limits{Nets: 1}, "nets"},
		{"nets without an id count", `<pnml><net/><net/></pnml>`, Limits{Nets: 1}, "nets"},
		{"a long attribute", net(`<place id="` + strings.Repeat("x", 100_000) + `"/>`), Limits{Token: 50_000}, "bytes in one tag, text or comment"},
		{"a long attribute within", net(`<place id="` + strings.Repeat("x", 100_000) + `"/>`), Limits{Token: 101_000}, ""},
		{"a long comment", "<!--" + strings.Repeat("x", 100_000) + "-->" + ok, Limits{Token: 50_000}, "bytes in one tag, text or comment"},
		{"a long element name", net("<" + strings.Repeat("x", 100_000) + "/>"), Limits{Token: 50_000}, "bytes in one tag, text or comment"},
		{"a text in many pieces", net("<name><text>" + strings.Repeat(strings.Repeat("x", 1000)+"<!-- -->", 100) + "</text></name>"), Limits{Token: 50_000}, "bytes in one tag, text or comment"},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			_, err := Read(strings.NewReader(tt.xml), "f", tt.lim)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("error %v", err)
			case tt.want != "" && !errors.Is(err, ErrLimit):
				t.Errorf("error %v, want ErrLimit", err)
			case tt.want != "" && !strings.Contains(err.Error(), " "+tt.want+"; expected at most "):
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
		})
	}
}

// endless is a reader of a beginning and then one piece, repeated without end.
type endless struct {
	rest  string
	piece string
	taken int
}

func (e *endless) Read(p []byte) (int, error) {
	for len(e.rest) < len(p) {
		e.rest += strings.Repeat(e.piece, 1+len(p)/len(e.piece))
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	e.taken += n
	return n, nil
}

// long reports whether tests read files as large as the default limits allow.
var long = os.Getenv(seeds.Long) != ""

// An endless file is refused after a bounded part of it. By default a limit of bytes is tried
// with 4 MiB, with PNAGENT_LONG with the default of 64 MiB.
func TestReadStopsAtBombs(t *testing.T) {
	if diff := cmp.Diff(DefaultLimits(), Limits{}.orDefault()); diff != "" {
		t.Errorf("limits that are not given: %s", diff)
	}
	bytes := Limits{Bytes: 4 << 20}
	if long {
		bytes = DefaultLimits()
	}
	tests := []struct {
		rule, begin, piece string
		taken              int // bytes read at most
		want               string
	}{
		{"pages in pages", `<pnml><net id="n">`, `<page id="g">`, 1 << 14, "elements inside each other"},
		{"unknown elements in each other", `<pnml><net id="n">`, `<x>`, 1 << 14, "elements inside each other"},
		{"elements in a label", `<pnml><net id="n"><name>`, `<text>`, 1 << 14, "elements inside each other"},
		{"an attribute", `<pnml><net id="`, "x", 2 << 20, "bytes in one tag, text or comment"},
		{"attributes", `<pnml><net id="n"><place `, `a="" `, 2 << 20, "bytes in one tag, text or comment"},
		{"a DOCTYPE", `<!DOCTYPE pnml [`, `<!ENTITY a "&b;">`, 2 << 20, "bytes in one tag, text or comment"},
		{"a text", `<pnml><net id="n"><name><text>`, "x", 2 << 20, "bytes in one tag, text or comment"},
		{"places", `<pnml><net id="n">`, "<place/>", 10 << 20, "places, transitions, arcs and references"},
		{"nets", `<pnml>`, `<net/>`, 1 << 14, "nets"},
		{"XML declarations, each with a decoder", `<?xml version="1.0" encoding="latin1"?>`, `<?xml version="1.0" encoding="latin1"?>`, 1 << 14, "a second XML declaration"},
		{"white space", "", " ", 2 << 20, "bytes in one tag, text or comment"},
		{"comments", "<pnml>", "<!-- -->", int(bytes.Bytes) + 1, "bytes in the file"},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			if (testing.Short() || racetest.UnderRace) && tt.taken > 2<<20 {
				t.Skip("reads up to 64 MiB")
			}
			lim := Limits{}
			if tt.want == "bytes in the file" {
				lim = bytes
			}
			e := &endless{rest: tt.begin, piece: tt.piece}
			_, err := Read(e, "bomb", lim)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
			if e.taken > tt.taken {
				t.Errorf("read %d bytes of it, want at most %d", e.taken, tt.taken)
			}
		})
	}
}

// A billion laughs: ten entities, each ten of the one before.
func TestReadExpandsNoEntity(t *testing.T) {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0"?><!DOCTYPE pnml [<!ENTITY l0 "lol">`)
	for i := range 9 {
		fmt.Fprintf(&b, `<!ENTITY l%d "%s">`, i+1, strings.Repeat(fmt.Sprintf("&l%d;", i), 10))
	}
	b.WriteString(`]><pnml><net id="&l9;"/></pnml>`)
	if got := faultLines(t, b.String()); len(got) != 1 || !strings.Contains(got[0], "entities are not expanded") {
		t.Errorf("got %q", got)
	}
}

// The same work must not be done again for every step of a chain, every
// attribute or every fault.
func TestReadTakesTimeInProportion(t *testing.T) {
	var chain strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&chain, `<referencePlace id="r%d" ref="r%d"/>`, i, i+1)
	}
	chain.WriteString(`<place id="r100000"/>`)
	read(t, net(chain.String()))
}

// generated is a valid net that is written piece by piece as it is read: a
// beginning, n pieces, an end. step is called now and then.
type generated struct {
	begin, end string
	piece      func(b []byte, i int) []byte // appends piece i, from 0
	n, at      int
	rest       []byte
	size       int64
	step       func()
}

func (g *generated) Read(p []byte) (int, error) {
	for len(g.rest) == 0 {
		switch {
		case g.at == 0:
			g.rest = append(g.rest, g.begin...)
		case g.at <= g.n:
			g.rest = g.piece(g.rest[:0], g.at-1)
		case g.at == g.n+1:
			g.rest = append(g.rest[:0], g.end...)
		default:
			return 0, io.EOF
		}
		if g.at++; g.step != nil && g.at%(g.n/16) == 0 {
			g.step()
		}
	}
	n := copy(p, g.rest)
	g.rest = g.rest[n:]
	g.size += int64(n)
	return n, nil
}

// ordinary returns a ring of n places, n transitions and 2n arcs, some 530
// bytes for each place, written as the usual editors do.
func ordinary(n int) *generated {
	return &generated{
		n:     n,
		begin: `<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="g">`,
		end:   `</page></net></pnml>`,
		piece: func(b []byte, i int) []byte {
			return fmt.Appendf(b, `
      <place id="place-%d"><name><text>Place %[1]d</text><graphics><offset x="0" y="20"/></graphics></name><graphics><position x="%[1]d" y="40"/></graphics><initialMarking><text>1</text></initialMarking></place>
      <transition id="transition-%[1]d"><name><text>Transition %[1]d</text></name><graphics><position x="%[1]d" y="80"/></graphics></transition>
      <arc id="in-%[1]d" source="place-%[1]d" target="transition-%[1]d"><inscription><text>1</text></inscription></arc>
      <arc id="out-%[1]d" source="transition-%[1]d" target="place-%[2]d"/>`, i, (i+1)%n)
		},
	}
}

// bare returns one transition and n-1 arcs from one place to it, in as few
// bytes as they can have.
func bare(n int) *generated {
	return &generated{
		n:     n - 2,
		begin: `<pnml><net id="n"><place id="p"/><transition id="t"/>`,
		end:   `</net></pnml>`,
		piece: func(b []byte, _ int) []byte { return append(b, `<arc source="p" target="t"/>`...) },
	}
}

// The bytes that may be live, while a file is read and after, for each byte of
// it. The more a file says about each node the fewer they are.
const (
	liveOrdinary = 1.5
	liveBare     = 4
)

func TestReadNeedsMemoryInProportion(t *testing.T) {
	if testing.Short() {
		t.Skip("reads files of many MB")
	}
	type memoryTest struct {
		rule string
		file *generated
		most float64
	}
	tests := []memoryTest{
		{"ordinary, 5 MB", ordinary(9_000), liveOrdinary},
		{"bare, 1 MB", bare(40_000), liveBare},
	}
	for _, times := range []int{3, 10} {
		if times == 3 && !racetest.UnderRace || long {
			tests = append(tests, memoryTest{fmt.Sprintf("ordinary, %d MB", 5*times), ordinary(9_000 * times), liveOrdinary},
				memoryTest{fmt.Sprintf("bare, %d MB", times), bare(40_000 * times), liveBare})
		}
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			if racetest.UnderRace && tt.file.n > 40_000 {
				t.Skip("reads a large file")
			}
			base, peak := live(), uint64(0)
			tt.file.step = func() { peak = max(peak, live()) }
			f, err := Read(tt.file, "generated", Limits{})
			if err != nil {
				t.Fatal(err)
			}
			peak = max(peak, live())
			per := (float64(peak) - float64(base)) / float64(tt.file.size)
			t.Logf("%d bytes, %d arcs: at most %.2f live bytes a byte", tt.file.size, len(f.Nets[0].Arcs), per)
			if per > tt.most {
				t.Errorf("%.2f live bytes a byte of the file, want at most %v", per, tt.most)
			}
		})
	}
}

// live returns the bytes of the heap that are in use.
func live() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
