// SPDX-License-Identifier: Apache-2.0

package standby

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/collector/standby/roster"
	"github.com/pnagent/pnagent/internal/natstest"
)

// sourcesOf is a fake collector.
type sourcesOf struct {
	silent []byte
	mu     sync.Mutex
	taken  [][]byte
}

func (s *sourcesOf) sources() *Sources {
	return &Sources{
		Silent: func() ([]byte, error) { return s.silent, errors.New("of another net there are none") },
		Take: func(silent []byte) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.taken = append(s.taken, silent)
			return errors.New("no room for one")
		},
	}
}

func (s *sourcesOf) has(times int, want []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.taken) != times {
		return fmt.Errorf("taken %d times", len(s.taken))
	}
	for _, got := range s.taken {
		if !bytes.Equal(got, want) {
			return fmt.Errorf("took %d bytes that differ from the %d sent", len(got), len(want))
		}
	}
	return nil
}

// A new member requests the silent sources at the first message of another member and
// once more after Silent; the answer may have many parts.
func TestANewMemberFetchesTheSilentSources(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		connect := startNATS(t)
		large := bytes.Repeat([]byte("0123456789abcdef\n"), 2*flushEvery*parcelSize/17+1)
		old, fresh := &sourcesOf{silent: large}, &sourcesOf{}
		cfg := Config{Conn: connect(), Subject: "petrinet.v1.sidecars.test", Name: "a", Priority: 100, Sources: old.sources()}
		a, _ := run(t, cfg)
		duty(t, a, true, 0)
		began := time.Now()
		cfg.Conn, cfg.Name, cfg.Priority, cfg.Sources = connect(), "b", 127, fresh.sources()
		b, _ := run(t, cfg)
		until(t, "the new member has them", func() error { return fresh.has(1, large) })
		if took := time.Since(began); took > roster.Silent/2 {
			t.Errorf("it takes %v", took)
		}
		until(t, "it has them once more", func() error { return fresh.has(2, large) })
		if took := time.Since(began); took < roster.Silent {
			t.Errorf("it asks again after %v", took)
		}
		other, _ := run(t, Config{Conn: connect(), Subject: cfg.Subject, Name: "old", Priority: 200}) // of an earlier version
		duty(t, other, false, 2)
		time.Sleep(2 * roster.Interval)
		if err := errors.Join(fresh.has(2, large), old.has(1, nil)); err != nil { // the new member has none
			t.Error(err)
		}
		for _, m := range []*Member{a, b, other} {
			for reason, n := range m.Counters().Rejected {
				if n != 0 {
					t.Errorf("%d messages are rejected as %s", n, reason)
				}
			}
		}
	})
}

func TestInvalidParcelsAreCountedAndUnrequestedOnesIgnored(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		connect := startNATS(t)
		s := &sourcesOf{}
		m, _ := run(t, Config{Conn: connect(), Subject: "s", Name: "a", Sources: s.sources()})
		duty(t, m, true, 0)
		nc := connect()
		whole := Page{Version: roster.Version, ID: "x", To: m.id, Last: true, Content: []byte("forged")}
		elsewhere := Page{Version: roster.Version, ID: "x", To: "y", Ask: true}
		for _, text := range []string{string(whole.Encode()), string(elsewhere.Encode()), "no line", "{}\n", "{\n"} {
			publish(t, nc, "s-sources", []byte(text))
		}
		until(t, "invalid parcels are counted", func() error {
			k := m.Counters().Rejected
			if got := [2]uint64{k[roster.NotJSON], k[roster.BadVersion]}; got != [2]uint64{2, 1} {
				return fmt.Errorf("not JSON, version: %v", got)
			}
			return nil
		})
		if err := s.has(0, nil); err != nil {
			t.Error(err)
		}
	})
}

func TestPartsAreTakenOnlyWhenComplete(t *testing.T) {
	data := []byte(strings.Repeat("x", 2*parcelSize) + "end")
	sent := parcels("a", "me", data)
	if len(sent) != 3 || !sent[2].Last || sent[0].Last || sent[1].Last {
		t.Fatalf("%d parcels", len(sent))
	}
	if empty := parcels("a", "me", nil); len(empty) != 1 || !empty[0].Last {
		t.Errorf("no data: %d parcels", len(empty))
	}
	if exact := parcels("a", "me", data[:2*parcelSize]); len(exact) != 2 || !exact[1].Last {
		t.Errorf("data for two full parcels: %d parcels", len(exact))
	}
	other := sent[1]
	other.ID = "b"
	for what, c := range map[string]struct {
		parts []Page
		whole bool
	}{
		"all":                   {sent, true},
		"a new beginning":       {[]Page{sent[0], sent[1], sent[0], sent[1], sent[2]}, true},
		"one is missing":        {[]Page{sent[0], sent[2]}, false},
		"one comes twice":       {[]Page{sent[0], sent[1], sent[1], sent[2]}, false},
		"the first is missing":  {sent[1:], false},
		"one of another sender": {[]Page{sent[0], other, sent[2]}, false},
	} {
		var a assembly
		whole := false
		for i := range c.parts {
			p, err := DecodePage(c.parts[i].Encode())
			if err != nil || !reflect.DeepEqual(c.parts[i], p) {
				t.Fatalf("parcel %d: error %v (-want +got): %s", i, err, cmp.Diff(c.parts[i], p))
			}
			whole, err = a.add(&p)
			if err != nil && roster.ReasonOf(err) != roster.BadPage {
				t.Errorf("%s: got error %v; want none or BadPage", what, err)
			}
		}
		if whole != c.whole || whole && !bytes.Equal(a.data, data) {
			t.Errorf("%s: whole %v, %d bytes", what, whole, len(a.data))
		}
	}
	full := assembly{from: "a", next: 7, data: make([]byte, MaxSources-1, MaxSources)}
	if _, err := full.add(&Page{ID: "a", Part: 7, Content: []byte("x")}); err != nil {
		t.Errorf("as much as may be: %v", err)
	}
	if whole, err := full.add(&Page{ID: "a", Part: 8, Content: []byte("x"), Last: true}); whole || err == nil || full.data != nil {
		t.Errorf("one byte too many: %v, %v", whole, err)
	}
}
