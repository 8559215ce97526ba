// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/internal/framed"
)

func someSaved() alarm.Saved {
	return alarm.Saved{Last: 9, LastChange: t0 + 5, Alarms: []alarm.Entry{
		{Alarm: alarm.Alarm{Index: 3, Kind: alarm.TokenStuck, Net: "orders", Subject: "paid \"€\"\n", Raised: t0, Since: t0 - 600e6, Affected: 7, Text: `a \ b`}, Phase: alarm.Raised},
		{Alarm: alarm.Alarm{Index: 7, Kind: alarm.SourceLost, Subject: "p\xff", Raised: t0 + 5, Since: t0, Affected: 1<<64 - 1}, Phase: alarm.Raised},
	}}
}

// indicesIn returns the indices of alarms in a phase.
func indicesIn(p alarm.Phase, s alarm.Saved) (all []uint32) {
	for i := range s.Alarms {
		if s.Alarms[i].Phase == p {
			all = append(all, s.Alarms[i].Index)
		}
	}
	return all
}

func TestTheFileIsReplacedAtomically(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "alarms.state")
	if _, err := readState(path); !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, s := range []alarm.Saved{{Last: 1}, someSaved()} {
		f := stateFile{content: alarmsContent, path: path, write: writeState}
		if err := f.save(s.Text); err != nil {
			t.Fatal(err)
		}
		got, err := readState(path)
		if d := cmp.Diff(s, got.value); err != nil || d != "" {
			t.Errorf("parsed state: error %v (-want +got): %s", err, d)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("beside the file there are %v, %v", left, err)
	}
}

// The files of testdata were written before files had frames.
//
//promise:versions version
func TestFilesOfEarlierVersionsAreRead(t *testing.T) {
	state, err := readState("testdata/unframed.state")
	if err != nil || state.damage != nil {
		t.Fatal(err, state.damage)
	}
	s := state.value
	raised, raising := indicesIn(alarm.Raised, s), indicesIn(alarm.Raising, s)
	first := s.Alarms[slices.IndexFunc(s.Alarms, func(e alarm.Entry) bool { return e.Phase == alarm.Raised })]
	if len(raised) != 1 || len(raising) != 1 || len(s.Alarms) != 4 || len(s.Cleared) != 3 || s.Last != 9 || first.Text != someSaved().Alarms[0].Text || first.Lost == nil {
		t.Errorf("got %+v", s)
	}
	notes, err := readNotes("testdata/unframed.notes")
	if err != nil || notes.damage != nil {
		t.Fatal(err, notes.damage)
	}
	for what, c := range map[string]struct{ text, again []byte }{"alarms": {state.text, s.Text()}, "notes": {notes.text, notes.value.File()}} {
		if !bytes.Equal(c.text, c.again) {
			t.Errorf("%s: read %q, and then %q", what, c.text, c.again)
		}
	}
}

// Whatever is wrong with a file is a framed.DamagedError with the name of the file; of another
// version a framed.VersionError.
//
//promise:versions version
//promise:damage damage version
func TestDamageOfAFileHasOneForm(t *testing.T) {
	old, err := os.ReadFile("testdata/unframed.state")
	if err != nil {
		t.Fatal(err)
	}
	s := someSaved()
	whole := alarmsContent.Text(framed.Frame{Kind: textKind, Payload: s.Text()})
	for what, c := range map[string]struct {
		text []byte
		want string
	}{
		"no file of alarms":     {[]byte("hello"), `damaged at byte 0: expected "pnagent alarms 1" as the first line`},
		"cut short":             {whole[:len(whole)-20], "damaged at byte 29: the file is cut short; expected a frame of"},
		"two bytes":             {append([]byte{whole[0] ^ 3}, whole[1:]...), `damaged at byte 0: expected "pnagent alarms 1"`},
		"a frame too many":      {alarmsContent.Text(framed.Frame{Kind: textKind}, framed.Frame{Kind: textKind}), "damaged at byte 0: it has 2 frames"},
		"a page of another one": {alarmsContent.Text(framed.Frame{Kind: textKind, Payload: []byte("x")}), "damaged at byte 29: damaged alarm state: torn or changed"},
		"an old one":            {old[:50], "damaged at byte 0: damaged alarm state: torn or changed"},
		"a later one":           {framed.Content{Name: alarmsContent.Name, Version: 2}.Text(), `"alarms" of version 2, which a later release wrote`},
	} {
		path := filepath.Join(t.TempDir(), "alarms.state")
		if err := os.WriteFile(path, c.text, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readState(path); !isDamage(err) || !strings.Contains(err.Error(), path+": "+c.want) {
			t.Errorf("%s: %v; want %s", what, err, c.want)
		}
	}
}
