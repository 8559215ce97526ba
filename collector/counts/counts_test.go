// SPDX-License-Identifier: Apache-2.0

package counts

import (
	"bytes"
	"context"
	"crypto/sha256"
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
			d.keep([]byte("counted"), true)
			d.keep([]byte("shown"), false)
			if s := d.Stats(); s.Saves != 2 || s.Failures != 0 || s.Bytes == 0 {
				t.Errorf("got %+v; want two saves without a failure", s)
			}
			d.Close()
			c.next.Path = before.Path
			next, _ := open(t, c.next, second)
			if diff := cmp.Diff(c.want, next.Header()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if shown := strings.Replace(c.state, "counted", "shown", 1); string(next.state) != c.state || string(next.shown) != shown {
				t.Errorf("got state %q and shown %q; want %q and %q", next.state, next.shown, c.state, shown)
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
func TestEpochsAndFencesRise(t *testing.T) {
	cfg := Config{Path: t.TempDir()}
	for i, now := range []int64{second, first, first} {
		d, _ := open(t, cfg, now)
		if d.head.Epoch != second+int64(i) || d.head.Fence != second/1e6+uint64(i) {
			t.Errorf("process %d: %+v", i, d.head)
		}
		d.keep(nil, true)
		d.Close()
	}
}

// A damaged state is logged and renamed, and nothing
// that engines did before counts, because it may have been shown.
func TestDamageIsKeptAsideAndNothingCountsTwice(t *testing.T) {
	spoil := func(name string, change func([]byte) []byte) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, name)
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
		"the state is torn":                   spoil(stateFile, func(b []byte) []byte { return b[:len(b)-1] }),
		"a bit of the state":                  spoil(stateFile, func(b []byte) []byte { b[len(b)/2] ^= 4; return b }),
		"the state is something else":         spoil(stateFile, func([]byte) []byte { return []byte("something else") }),
		"what was shown is torn":              spoil(shownFile, func(b []byte) []byte { return b[:20] }),
		"a state that no collector can read":  func(*testing.T, string) {},
		"a state that is a directory":         func(t *testing.T, dir string) { replaceByDir(t, filepath.Join(dir, stateFile)) },
		"a file that is a directory is shown": func(t *testing.T, dir string) { replaceByDir(t, filepath.Join(dir, shownFile)) },
	} {
		t.Run(what, func(t *testing.T) {
			cfg := Config{Path: t.TempDir(), FromZero: true}
			d, _ := open(t, cfg, first)
			d.keep([]byte("no records of a collector"), true)
			d.keep([]byte("none"), false)
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
			if diff := cmp.Diff([]string{shownFile + aside, stateFile + aside}, names); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			d.keep([]byte("good"), true)
			d.Close()
			if d, _ = open(t, cfg, second+1); string(d.state) != "good" || len(d.shown) != 0 || d.head.Before != second {
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
		if got := log.String(); strings.Contains(got, "rename") != stuck || strings.Contains(got, shownFile) || !strings.Contains(got, "as its first line") {
			t.Errorf("stuck %v: %s", stuck, got)
		}
	}
}

// Where a write fails and the older files cannot be made empty either, the log has both errors.
func TestFilesThatCannotBeMadeEmptyAreLogged(t *testing.T) {
	d, log := open(t, Config{Path: t.TempDir()}, first)
	if err := os.Mkdir(filepath.Join(d.cfg.Path, stateFile), 0o700); err != nil {
		t.Fatal(err)
	}
	d.write = func(string, []byte) error { return errors.New("no space left") }
	d.keep([]byte("counted"), true)
	if got := log.String(); !strings.Contains(got, "no space left") || !strings.Contains(got, "truncate") || strings.Contains(got, shownFile) {
		t.Errorf("got log %q; want the errors of the state's file alone", got)
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

// Where a write fails, the next process must not begin below what was shown: no
// older file is left that could be used. Once the disk works again, all is well.
func TestAFailedWriteLeavesNoUsableState(t *testing.T) {
	for _, whole := range []bool{true, false} {
		cfg := Config{Path: t.TempDir(), FromZero: true}
		d, log := open(t, cfg, first)
		d.keep([]byte("counted"), true)
		d.keep([]byte("shown"), false)
		works := d.write
		d.write = func(string, []byte) error { return errors.New("no space left") }
		for range 3 {
			d.keep([]byte("counted more"), whole)
		}
		if n := strings.Count(log.String(), "no space left"); n != 1 {
			t.Errorf("%d lines: %s", n, log)
		}
		for name, text := range contents(t, cfg.Path) {
			if text != "" {
				t.Errorf("%s has %q", name, text)
			}
		}
		d.write = works
		if d.keep([]byte("shown"), false); contents(t, cfg.Path)[shownFile] != "" {
			t.Error("what is shown is written without a state")
		}
		failed := d.Stats().Failures
		d.Close()

		next, log := open(t, cfg, second)
		if next.head.Before != second || next.state != nil || !strings.Contains(log.String(), "could not write") {
			t.Errorf("%+v; the log: %s", next.head, log)
		}
		next.Close()
		if got := contents(t, cfg.Path); len(got) != 2 { // empty files are worth nothing to look at later
			t.Errorf("got files %v; want two", got)
		}
		if want := uint64(map[bool]int{true: 3, false: 1}[whole]); failed != want {
			t.Errorf("%d failures, want %d", failed, want)
		}

		d, _ = open(t, cfg, second)
		d.keep([]byte("counted again"), true)
		d.Close()
		if next, _ = open(t, cfg, second+1); string(next.state) != "counted again" || len(next.shown) != 0 {
			t.Errorf("got state %q and shown %q; want the state that was counted again, and none shown", next.state, next.shown)
		}
	}
}

// A disk that hangs delays the Views once.
func TestADiskThatHangsDelaysOnce(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		log := &bytes.Buffer{}
		d, err := Open(Config{Path: dir, Log: slog.New(slog.NewTextHandler(log, nil))}, first)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		d.keep([]byte("counted"), true)
		works, answer := d.write, make(chan error)
		d.write = func(path string, content []byte) error {
			if err := <-answer; err != nil {
				return err
			}
			return works(path, content)
		}
		began := time.Now()
		for range 5 {
			d.keep([]byte("more"), true)
		}
		if waited := time.Since(began); waited != atomicfile.Patience {
			t.Errorf("waited for %v", waited)
		}
		if s := d.Stats(); s.Failures != 5 || s.Saves != 1 || strings.Count(log.String(), "does not answer") != 1 {
			t.Errorf("%+v; the log: %s", s, log)
		}
		answer <- nil
		synctest.Wait()
		d.write = works
		d.keep([]byte("shown"), false) // the state is there, so this is of use
		if s := d.Stats(); s.Saves != 2 {
			t.Errorf("got %+v; want two saves", s)
		}
	})
	if f, err := read(filepath.Join(dir, stateFile)); err != nil || string(f.counted) != "more" {
		t.Errorf("got %+v, error %v; want the state \"more\"", f, err)
	}
}

// Shown counters with another start are no lower bound of these.
func TestShownCountersOfAnotherStartAreIgnored(t *testing.T) {
	cfg := Config{Path: t.TempDir(), Subjects: "a"}
	d, _ := open(t, cfg, first)
	d.keep([]byte("counted"), true)
	d.keep([]byte("shown"), false)
	d.Close()
	cfg.Subjects = "b"
	d, _ = open(t, cfg, second)
	d.keep([]byte("of b"), true)
	d.Close()
	if d, _ = open(t, cfg, second+1); string(d.state) != "of b" || d.shown != nil {
		t.Errorf("got state %q and shown %q; want the state \"of b\", and none shown", d.state, d.shown)
	}
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
	d.keep([]byte("no records of a collector"), true)
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
			if err != nil || d.state != nil || d.shown != nil {
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
			if f, err := read(d.path(stateFile)); err != nil || f.Header != d.head || len(f.counted) == 0 {
				t.Errorf("got %+v, error %v; want the header %+v and a state", f, err, d.head)
			}
		})
	}
}

func TestFile(t *testing.T) {
	f := &file{Header{Subjects: "p", Source: "a b", Up: "up", Share: "1/2", Since: 1, Before: 2, Epoch: 3, Fence: 4}, []byte("\n\x00 what was counted")}
	whole := f.append(nil)
	got, err := parse(whole)
	if err != nil || got.Header != f.Header || !bytes.Equal(got.counted, f.counted) {
		t.Errorf("got %+v, error %v; want %+v", got, err, f)
	}
	for n := range whole {
		want := "wrong checksum"
		switch {
		case n == 0:
			want = errNotKept.Error()
		case n < len(magic)+sha256.Size:
			want = "as its first line"
		}
		if _, err := parse(whole[:n]); !errors.Is(err, ErrState) || errors.Is(err, errNotKept) != (n == 0) || !strings.Contains(err.Error(), want) {
			t.Fatalf("cut at %d: %v; expected %q", n, err, want)
		}
		bad := bytes.Clone(whole)
		bad[n] ^= 1
		if _, err := parse(bad); !errors.Is(err, ErrState) {
			t.Fatalf("byte %d turned: %v", n, err)
		}
	}
}

// A file whose checksum is right is refused all the same if no header is in it.
func TestFileWithoutAHeader(t *testing.T) {
	for _, content := range []string{"", "\n", "no header\ncounted", `{"since":"yesterday"}` + "\ncounted", `{"since":1`} {
		sum := sha256.Sum256([]byte(content))
		if f, err := parse(slices.Concat([]byte(magic), sum[:], []byte(content))); !errors.Is(err, ErrState) || f != nil {
			t.Errorf("content %q: got %+v, error %v; want ErrState", content, f, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add((&file{Header{Source: "a"}, []byte("x")}).append(nil))
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := parse(text); err != nil && !errors.Is(err, ErrState) {
			t.Error(err)
		}
	})
}

// collectorConfig is that of a collector that is never run.
func collectorConfig(t *testing.T) collector.Config {
	t.Helper()
	return collector.Config{Conn: &nats.Conn{}, Log: slog.New(slog.DiscardHandler)}
}
