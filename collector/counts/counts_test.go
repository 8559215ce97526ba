// SPDX-License-Identifier: Apache-2.0

package counts

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/atomicfile"
	"github.com/pnagent/pnagent/internal/dirlock"
	"github.com/pnagent/pnagent/internal/framed"
	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/petri"
)

// Times of processes, microseconds since the Unix epoch.
const (
	first  = 1_794_744_000_000_000
	second = first + 3600e6
)

// open opens a directory for a process, and returns what it logs.
func open(t *testing.T, cfg Config, now int64) (*Dir, *bytes.Buffer) {
	t.Helper()
	log := &bytes.Buffer{}
	cfg.Log = slog.New(slog.NewTextHandler(log, nil))
	d, err := Open(cfg, now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d, log
}

// begins and adds return frames.
func begins(records string) merge.Frame { return merge.Frame{First: true, Records: []byte(records)} }
func adds(records string) merge.Frame   { return merge.Frame{Records: []byte(records)} }

// texts returns frames as one text.
func texts(frames [][]byte) string { return string(bytes.Join(frames, []byte("|"))) }

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(text)
	}
	return out
}

// The state that a process continues from, by the files of the previous one.
func TestTheStateThatAProcessContinuesFrom(t *testing.T) {
	own := Config{Subjects: "petrinet.v1", Share: merge.Share{Index: 1, Count: 2}, Up: "root", Source: "one"}
	with := func(change func(*Config)) Config {
		c := own
		change(&c)
		return c
	}
	goesOn := Header{Subjects: "petrinet.v1", Share: "1/2", Up: "root", Source: "one", Since: first, Before: first, Epoch: second, Fence: second / 1e6}
	header := func(change func(*Header)) Header {
		h := goesOn
		change(&h)
		return h
	}
	restarted := func(h *Header) { h.Since, h.Before = second, second }
	for what, c := range map[string]struct {
		next  Config
		want  Header
		state string
	}{
		"the same":       {own, goesOn, "counted"},
		"from zero, too": {with(func(c *Config) { c.FromZero = true }), goesOn, "counted"},
		"another share": {with(func(c *Config) { c.Share.Index = 2 }),
			header(func(h *Header) { h.Share, h.Before = "2/2", second }), "counted"},
		"other subjects":           {with(func(c *Config) { c.Subjects = "x" }), header(func(h *Header) { restarted(h); h.Subjects = "x" }), ""},
		"another name above":       {with(func(c *Config) { c.Source = "two" }), header(func(h *Header) { restarted(h); h.Source = "two" }), ""},
		"other subjects above":     {with(func(c *Config) { c.Up = "y" }), header(func(h *Header) { restarted(h); h.Up = "y" }), ""},
		"another, and from zero":   {with(func(c *Config) { c.Up, c.FromZero = "y", true }), header(func(h *Header) { restarted(h); h.Up = "y" }), ""},
		"nothing above any longer": {with(func(c *Config) { c.Up, c.Source = "", "" }), header(func(h *Header) { restarted(h); h.Up, h.Source = "", "" }), ""},
	} {
		t.Run(what, func(t *testing.T) {
			before := own
			before.Path, c.next.Path = t.TempDir(), ""
			d, _ := open(t, before, first)
			if d.head.Before != first || d.head.Since != first || d.state != nil {
				t.Errorf("the first one begins as %+v", d.head)
			}
			d.keep(begins("counted"))
			d.keep(adds("shown"))
			if s := d.Stats(); s.Saves != 2 || s.Failures != 0 || s.Bytes == 0 {
				t.Errorf("got %+v; want two saves without a failure", s)
			}
			d.Close()
			c.next.Path = before.Path
			next, _ := open(t, c.next, second)
			if diff := cmp.Diff(c.want, next.Header()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if got := texts(next.state); got != strings.Replace(c.state, "counted", "counted|shown", 1) {
				t.Errorf("got state %q; want %q and what was shown", got, c.state)
			}
		})
	}
}

func TestEmptyDirectory(t *testing.T) {
	for _, c := range []struct {
		path     string
		fromZero bool
		before   int64
	}{{"", false, first}, {"", true, 0}, {"new/dir", false, first}, {"new/dir", true, 0}} {
		if c.path != "" {
			c.path = filepath.Join(t.TempDir(), c.path)
		}
		d, _ := open(t, Config{Path: c.path, FromZero: c.fromZero}, first)
		if d.head.Before != c.before || d.head.Since != first {
			t.Errorf("case %+v: got header %+v; want Before %d and Since %d", c, d.head, c.before, int64(first))
		}
	}
}

// Each process is later than the one before, whatever the clock says.
//
//promise:counters clock
func TestEpochsAndFencesRise(t *testing.T) {
	cfg := Config{Path: t.TempDir()}
	for i, now := range []int64{second, first, first} {
		d, _ := open(t, cfg, now)
		if d.head.Epoch != second+int64(i) || d.head.Fence != second/1e6+uint64(i) {
			t.Errorf("process %d: %+v", i, d.head)
		}
		d.keep(begins(""))
		d.Close()
	}
}

// A damaged state is logged and renamed, and nothing
// that engines did before counts, because it may have been shown.
//
//promise:damage damage
//promise:counters damage
func TestDamageIsKeptAsideAndNothingCountsTwice(t *testing.T) {
	spoil := func(change func([]byte) []byte) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, stateFile)
			text, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path, change(text), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for what, damage := range map[string]func(t *testing.T, dir string){
		"the first frame is torn":            spoil(func(b []byte) []byte { return b[:len(b)/2] }),
		"a bit of the first frame":           spoil(func(b []byte) []byte { b[len(b)/2] ^= 4; return b }),
		"the state is something else":        spoil(func([]byte) []byte { return []byte("something else") }),
		"a state that no collector can read": func(*testing.T, string) {},
		"a state that is a directory":        func(t *testing.T, dir string) { replaceByDir(t, filepath.Join(dir, stateFile)) },
	} {
		t.Run(what, func(t *testing.T) {
			cfg := Config{Path: t.TempDir(), FromZero: true}
			d, _ := open(t, cfg, first)
			d.keep(begins("no records of a collector"))
			d.keep(adds("none"))
			d.Close()
			damage(t, cfg.Path)
			d, log := open(t, cfg, second)
			c, err := d.Collector(collectorConfig(t))
			if err != nil || len(c.View().Nets) != 0 {
				t.Fatalf("got error %v and %d nets; want an empty View", err, len(c.View().Nets))
			}
			if d.head.Before != second || d.head.Since != second || !strings.Contains(log.String(), "level=ERROR") {
				t.Errorf("%+v; the log: %s", d.head, log)
			}
			names := namesIn(t, cfg.Path)
			if diff := cmp.Diff([]string{stateFile + aside}, names); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			d.keep(begins("good"))
			d.Close()
			d, _ = open(t, cfg, second+1)
			if texts(d.state) != "good" || d.head.Before != second {
				t.Errorf("afterwards: %q, %+v", d.state, d.head)
			}
		})
	}
}

// A failed rename is logged too.
func TestAFailedRenameIsLogged(t *testing.T) {
	for _, stuck := range []bool{false, true} {
		cfg := Config{Path: t.TempDir()}
		if err := os.WriteFile(filepath.Join(cfg.Path, stateFile), []byte("something else"), 0o600); err != nil {
			t.Fatal(err)
		}
		if stuck { // a directory that is not empty
			if err := os.MkdirAll(filepath.Join(cfg.Path, stateFile+aside, "x"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		_, log := open(t, cfg, first)
		if got := log.String(); strings.Contains(got, "rename") != stuck || strings.Contains(got, shownFile) || !strings.Contains(got, "damaged at byte 0: expected") {
			t.Errorf("stuck %v: %s", stuck, got)
		}
	}
}

// Where a write fails and the file cannot be made empty either, the log has both errors.
func TestAFileThatCannotBeMadeEmptyIsLogged(t *testing.T) {
	d, log := open(t, Config{Path: t.TempDir()}, first)
	if err := os.Mkdir(d.path(stateFile), 0o700); err != nil {
		t.Fatal(err)
	}
	d.keep(begins("counted"))
	if got := log.String(); !strings.Contains(got, "file exists") || !strings.Contains(got, "truncate") {
		t.Errorf("got log %q; want both errors", got)
	}
}

func replaceByDir(t *testing.T, path string) {
	t.Helper()
	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
}

func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// broken is a disk of which some operations fail.
type broken struct {
	system
	begins, goesOn func() error // nil where it works
}

func (b *broken) replace(path string, content []byte) error {
	if b.begins != nil {
		if err := b.begins(); err != nil {
			return err
		}
	}
	return b.system.replace(path, content)
}

func (b *broken) appendTo(path string) (file, error) {
	f, err := b.system.appendTo(path)
	return &brokenFile{f, b}, err
}

type brokenFile struct {
	file
	of *broken
}

func (f *brokenFile) Sync() error {
	if f.of.goesOn != nil {
		return f.of.goesOn()
	}
	return f.file.Sync()
}

// Where a write fails, the next process must not begin below what was shown: no
// older file is left that could be used. Once the disk works again, all is well.
func TestAFailedWriteLeavesNoUsableState(t *testing.T) {
	full := func() error { return errors.New("no space left") }
	for _, whole := range []bool{true, false} {
		cfg := Config{Path: t.TempDir(), FromZero: true}
		d, log := open(t, cfg, first)
		disk := &broken{}
		d.log.files = disk
		d.keep(begins("counted"))
		d.keep(adds("shown"))
		disk.begins, disk.goesOn = full, full
		if d.keep(merge.Frame{First: whole, Records: []byte("counted more")}) {
			t.Error("a failed write is reported as kept")
		}
		d.keep(begins("counted more"))
		d.keep(adds("shown more"))
		if n := strings.Count(log.String(), "no space left"); n != 1 {
			t.Errorf("%d lines: %s", n, log)
		}
		for name, text := range contents(t, cfg.Path) {
			if text != "" {
				t.Errorf("%s has %q", name, text)
			}
		}
		disk.begins, disk.goesOn = nil, nil
		if d.keep(adds("shown")) || contents(t, cfg.Path)[stateFile] != "" {
			t.Error("a frame is kept without its log")
		}
		failed := d.Stats().Failures
		d.Close()

		next, log := open(t, cfg, second)
		if next.head.Before != second || next.state != nil || !strings.Contains(log.String(), "could not write") {
			t.Errorf("%+v; the log: %s", next.head, log)
		}
		next.Close()
		if got := contents(t, cfg.Path); len(got) != 1 { // an empty file is worth nothing to look at later
			t.Errorf("got files %v; want one", got)
		}
		if failed != 4 {
			t.Errorf("%d failures, want 4", failed)
		}

		d, _ = open(t, cfg, second)
		d.keep(begins("counted again"))
		d.Close()
		next, _ = open(t, cfg, second+1)
		if texts(next.state) != "counted again" {
			t.Errorf("got state %q; want the state that was counted again", next.state)
		}
	}
}

// A disk that hangs delays the Views once.
//
//promise:counters disk
func TestADiskThatHangsDelaysOnce(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		log := &bytes.Buffer{}
		d, err := Open(Config{Path: dir, Log: slog.New(slog.NewTextHandler(log, nil))}, first)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		d.keep(begins("counted"))
		d.keep(adds("shown"))
		disk, answer := &broken{}, make(chan error)
		disk.begins = func() error { return <-answer }
		d.log.files = disk
		began := time.Now()
		for range 5 {
			d.keep(begins("more"))
		}
		if waited := time.Since(began); waited != atomicfile.Patience {
			t.Errorf("waited for %v", waited)
		}
		if s := d.Stats(); s.Failures != 5 || s.Saves != 2 || strings.Count(log.String(), "does not answer") != 1 {
			t.Errorf("%+v; the log: %s", s, log)
		}
		if k, err := readFile(d.path(stateFile)); err != nil || texts(k.frames) != "counted|shown" {
			t.Errorf("meanwhile: %+v, %v; want what was kept before", k, err)
		}
		answer <- nil
		synctest.Wait()
		disk.begins = nil
		d.keep(begins("again"))
		d.keep(adds("shown"))
		if s := d.Stats(); s.Saves != 4 {
			t.Errorf("got %+v; want four saves", s)
		}
	})
	if k, err := readFile(filepath.Join(dir, stateFile)); err != nil || texts(k.frames) != "again|shown" {
		t.Errorf("got %+v, error %v; want the state \"again\"", k, err)
	}
}

func readFile(path string) (*kept, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	k, _, err := parse(text)
	return k, err
}

func TestDirectoryHasOneProcess(t *testing.T) {
	cfg := Config{Path: t.TempDir()}
	d, _ := open(t, cfg, first)
	cfg.Log = slog.New(slog.DiscardHandler)
	if _, err := Open(cfg, first); !errors.Is(err, dirlock.ErrHeld) {
		t.Errorf("got error %v; want dirlock.ErrHeld", err)
	}
	d.Close()
	open(t, cfg, first)
	cfg.Path = filepath.Join(cfg.Path, stateFile, "in a file")
	if err := os.WriteFile(filepath.Dir(cfg.Path), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(cfg, first); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got error %v; want one that is not fs.ErrNotExist", err)
	}
}

// An invalid net is not reported as a damaged state.
func TestWrongNetIsReported(t *testing.T) {
	d, _ := open(t, Config{Path: t.TempDir()}, first)
	d.keep(begins("no records of a collector"))
	cfg := collectorConfig(t)
	cfg.Log = nil
	if _, err := d.Collector(cfg); err == nil || errors.Is(err, merge.ErrState) {
		t.Errorf("got error %v; want one that is not merge.ErrState", err)
	}
}

// A collector keeps its counters, and the next one continues from them;
// without a directory nothing is kept.
func TestACollectorKeepsItsCountersInADirectory(t *testing.T) {
	for _, path := range []string{t.TempDir(), ""} {
		natstest.Bubble(t, func(t *testing.T) {
			c := collectorConfig(t)
			c.Conn = natstest.Connect(t, natstest.Run(t))
			c.Nets = []*petri.Net{{ID: "n", Places: []petri.Place{{ID: "p"}}}}
			log := &bytes.Buffer{}
			d, err := Open(Config{Path: path, Log: slog.New(slog.NewTextHandler(log, nil))}, first)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			running, err := d.Collector(c)
			if err != nil || d.state != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			if err := running.Run(ctx); err != nil {
				t.Error(err)
			}
			s := d.Stats()
			if kept := s.Saves > 0; kept != (path != "") || s.Failures != 0 || strings.Contains(log.String(), "ERROR") {
				t.Errorf("directory %q: %+v; the log: %s", path, s, log)
			}
			if path == "" {
				return
			}
			if k, err := readFile(d.path(stateFile)); err != nil || k.Header != d.head || len(k.frames) == 0 {
				t.Errorf("got %+v, error %v; want the header %+v and a state", k, err, d.head)
			}
		})
	}
}

// earlier returns a file as earlier releases wrote it.
func earlier(h Header, counted string) []byte {
	head, _ := json.Marshal(h)
	rest := slices.Concat(head, []byte("\n"), []byte(counted))
	sum := sha256.Sum256(rest)
	return slices.Concat([]byte(earlierMagic), sum[:], rest)
}

// The files of an earlier release are read; shown counters with another start are no lower bound
// of these. The first frame replaces them.
func TestTheFilesOfAnEarlierReleaseAreRead(t *testing.T) {
	h := Header{Share: "0/0", Since: first, Before: first, Epoch: first}
	other := h
	other.Since--
	bit := earlier(h, "counted")
	bit[len(bit)-1] ^= 1
	for what, c := range map[string]struct {
		state, shown []byte
		want, log    string
	}{
		"both":                {earlier(h, "counted"), earlier(h, "shown"), "counted|shown", "counters continue"},
		"the state alone":     {earlier(h, "counted"), nil, "counted", "counters continue"},
		"an empty shown file": {earlier(h, "counted"), []byte{}, "counted", "counters continue"},
		"another start":       {earlier(h, "counted"), earlier(other, "shown"), "counted", "counters continue"},
		"a bit of the state":  {bit, nil, "", "wrong checksum"},
		"a bit of the shown":  {earlier(h, "counted"), bit, "", "wrong checksum"},
		"no header":           {append([]byte(earlierMagic), "x"...), nil, "", "as its first line"},
		"an empty state":      {[]byte{}, earlier(h, "shown"), "", "could not write it"},
	} {
		t.Run(what, func(t *testing.T) {
			cfg := Config{Path: t.TempDir()}
			for name, text := range map[string][]byte{stateFile: c.state, shownFile: c.shown} {
				if text == nil {
					continue
				}
				if err := os.WriteFile(filepath.Join(cfg.Path, name), text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			d, log := open(t, cfg, second)
			if got := texts(d.state); got != c.want || !strings.Contains(log.String(), c.log) || (d.head.Since == first) != (c.want != "") {
				t.Errorf("got %q, %+v; the log: %s", got, d.head, log)
			}
			d.keep(begins("new"))
			d.Close()
			d, _ = open(t, cfg, second+1)
			if texts(d.state) != "new" || slices.Contains(namesIn(t, cfg.Path), shownFile) {
				t.Errorf("then: %q, %v", d.state, namesIn(t, cfg.Path))
			}
		})
	}
}

// An earlier release refuses the file of this one, and this one that of a later one, which it
// leaves as it is.
func TestADowngradeIsRefused(t *testing.T) {
	cfg := Config{Path: t.TempDir()}
	d, _ := open(t, cfg, first)
	d.keep(begins("counted"))
	d.Close()
	path := filepath.Join(cfg.Path, stateFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parseEarlier(text); !errors.Is(err, ErrState) || !strings.Contains(err.Error(), "as its first line") {
		t.Errorf("an earlier release: %v", err)
	}
	later := bytes.Replace(text, []byte("counts 2\n"), []byte("counts 3\n"), 1)
	if err := os.WriteFile(path, later, 0o600); err != nil {
		t.Fatal(err)
	}
	cfg.Log = slog.New(slog.DiscardHandler)
	for range 2 { // the directory is released
		_, err = Open(cfg, second)
		if err == nil || !strings.Contains(err.Error(), "counters.state: ") || !strings.Contains(err.Error(), "of version 3, which a later release wrote; expected version 2; start that release") {
			t.Errorf("got error %v", err)
		}
	}
	if got := contents(t, cfg.Path); len(got) != 1 || got[stateFile] != string(later) {
		t.Error("the file of the later release changed")
	}
}

// Frames whose checksums are right are refused all the same if no state is in them; the error has
// the byte.
func TestFramesWithoutAState(t *testing.T) {
	header := framed.Frame{Kind: headerFrame, Payload: []byte("{}")}
	for want, frames := range map[string][]framed.Frame{
		"damaged at byte 0: expected a header":     {{Kind: recordFrame}, {Kind: recordFrame}},
		"damaged at byte 0: expected a header and": {header},
		"damaged at byte 29: unexpected end":       {{Kind: headerFrame}, {Kind: recordFrame}},
		"damaged at byte 44: a frame of kind 7":    {header, {Kind: 7}},
		"damaged at byte 44: ":                     {header, {Kind: recordFrame, Payload: []byte("not packed")}},
	} {
		if k, _, err := parse(content.Text(frames...)); !errors.Is(err, ErrState) || !strings.Contains(err.Error(), want) || k != nil {
			t.Errorf("got %+v, error %v; want %q", k, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	var l log
	text := &text{}
	l.files, l.path = text, "x"
	for _, frame := range []merge.Frame{begins("counted"), adds("shown")} {
		if err := l.add(Header{Source: "a"}, frame); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(text.now)
	f.Add(earlier(Header{Source: "a"}, "x"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var version *framed.VersionError
		if _, _, err := parse(text); err != nil && !errors.Is(err, ErrState) && !errors.As(err, &version) {
			t.Error(err)
		}
		if _, err := parseEarlier(text); err != nil && !errors.Is(err, ErrState) {
			t.Error(err)
		}
	})
}

// collectorConfig is that of a collector that is never run.
func collectorConfig(t *testing.T) collector.Config {
	t.Helper()
	return collector.Config{Conn: &nats.Conn{}, Log: slog.New(slog.DiscardHandler)}
}
