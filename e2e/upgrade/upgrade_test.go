// SPDX-License-Identifier: Apache-2.0

//go:build release

package upgrade

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/mib"
)

// take is the transition that fires 40 times by itself in kit.StuckNet, and once for each token in "inbox" after that.
var take = kit.Key{Net: "claims", ID: "take"}

// impatient raises an alarm about the tokens of a place a second after they came.
const impatient = "settle: 1s\ndefaults:\n  stuck: {after: 1s, clear_after: 1s}\n  starved: off\n  deadlocked: off\n"

// bus is a NATS server and what runs on it.
type bus struct {
	t             *testing.T
	nats          string
	net, bindings string
	rules         string
}

func newBus(t *testing.T) bus {
	return bus{t, kit.StartNATS(t), kit.Write(t, "claims.pnml", kit.StuckNet), kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "alarms.yaml", impatient)}
}

func (b bus) sidecar(program, dir string) *kit.Sidecar {
	return kit.ServeProgram(b.t, program, b.nats, "--mib-dir", dir, "--alarms", b.rules)
}

func (b bus) engine(program, name string, args ...string) *kit.Engine {
	return kit.RunProgram(b.t, program, b.nats, name, append(args, "--bindings", b.bindings, b.net)...)
}

// inject has take fire n times.
func (b bus) inject(name string, n int) {
	kit.Request(b.t, kit.Connect(b.t, b.nats), "inject", "claims", name, fmt.Sprintf(`{"instance":0,"place":"inbox","tokens":%d}`, n))
}

// shows waits until a sidecar shows how often take fired.
func shows(t *testing.T, side *kit.Sidecar, want uint64) {
	t.Helper()
	kit.Until(t, fmt.Sprintf("%d firings are shown", want), func() error {
		scrape, err := side.ReadMetrics()
		if err != nil {
			return err
		}
		if got := scrape.Numbers().Firings[take]; got != want {
			return fmt.Errorf("%d", got)
		}
		return nil
	})
}

// stuck waits until a sidecar has the alarm about the claims that await an answer, and returns its index.
func stuck(t *testing.T, side *kit.Sidecar) (index uint32) {
	t.Helper()
	kit.Until(t, "the alarm is active", func() error {
		for _, a := range side.Alarms(t) {
			if a.Alarm == "tokenStuck" && a.Place == "awaiting answer" {
				index = a.Index
				return nil
			}
		}
		return errors.New("it is not")
	})
	return index
}

// numbers are the lines of oids.lock, without its comments.
func numbers(t *testing.T, dir string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, mib.LockFile))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}

// sameNumbers checks that every number of before is of the same object now.
func sameNumbers(t *testing.T, before []string, dir string) {
	t.Helper()
	now := "\n" + strings.Join(numbers(t, dir), "")
	for _, line := range before {
		if !strings.Contains(now, "\n"+line) {
			t.Errorf("oids.lock has no %q any more:%s", line, now)
		}
	}
}

// A sidecar continues with the directory of an earlier version: counters, also of an engine that
// ended, numbers of objects, and indices of alarms. The earlier version continues with the
// directory of this one, or puts aside what it cannot read.
//
//promise:versions version stop
//promise:counters version
func TestASidecarContinuesWithTheDirectoryOfAnEarlierVersion(t *testing.T) {
	each(t, func(t *testing.T, v version, program string) {
		b, dir := newBus(t), t.TempDir()
		side := b.sidecar(program, dir)
		b.engine(program, "munich").Stop(t, endedAt(t, side, 40))
		b.engine(program, "berlin")
		shows(t, side, 80)
		index, lock := stuck(t, side), numbers(t, dir)
		side.Stop(t, syscall.SIGTERM)

		side = b.sidecar(kit.Built().Pnagent, dir)
		shows(t, side, 80)
		b.inject("berlin", 5)
		shows(t, side, 85)
		if got := stuck(t, side); got != index {
			t.Errorf("the alarm has index %d after the update; want %d", got, index)
		}
		sameNumbers(t, lock, dir)
		lock = numbers(t, dir)
		side.Stop(t, syscall.SIGTERM)

		side = b.sidecar(program, dir)
		if v.aside {
			shows(t, side, 0)
			if aside, _ := filepath.Glob(filepath.Join(dir, "*", "*.damaged")); len(aside) == 0 {
				t.Errorf("no file is put aside in %s", dir)
			}
		} else {
			shows(t, side, 85)
		}
		sameNumbers(t, lock, dir)
	})
}

// endedAt waits until a sidecar shows firings, and returns the signal that ends an engine.
func endedAt(t *testing.T, side *kit.Sidecar, firings uint64) syscall.Signal {
	t.Helper()
	shows(t, side, firings)
	return syscall.SIGTERM
}

// A journal of an earlier version is continued, or refused with both numbers and left as it is. The
// earlier version continues one of this version.
//
//promise:versions version stop
func TestAJournalOfAnEarlierVersionIsContinuedOrRefused(t *testing.T) {
	each(t, func(t *testing.T, v version, program string) {
		for _, way := range []struct{ name, writer, reader, refused string }{
			{"forwards", program, kit.Built().Pnagent, v.journal},
			{"backwards", kit.Built().Pnagent, program, ""},
		} {
			t.Run(way.name, func(t *testing.T) {
				net, dir := kit.Write(t, "ring.pnml", kit.RingNet), filepath.Join(t.TempDir(), "journal")
				play := func(program string) kit.Result {
					return kit.RunIn(t, "", kit.CleanEnv(), program, "engine", "--journal", dir, "--instances", "3", "--firings", "100", net)
				}
				wrote := kit.ParseReport(t, play(way.writer).Out)
				before := files(t, dir)
				read := play(way.reader)
				if way.refused != "" {
					kit.WantFailure(t, read, 1, way.refused)
					if after := files(t, dir); after != before {
						t.Errorf("the refused journal was\n%s\nand is\n%s", before, after)
					}
					return
				}
				var tokens uint64
				for _, n := range kit.ParseReport(t, read.Out).Nets["ring"].Tokens {
					tokens += n
				}
				if tokens != 3 || wrote.Firings == 0 {
					t.Errorf("%d tokens after %d firings of the writer; want 3", tokens, wrote.Firings)
				}
			})
		}
	})
}

// files are the names and contents of a journal, without its lock.
func files(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*.s*"))
	if err != nil || len(found) == 0 {
		t.Fatalf("files of a journal: %q, %v", found, err)
	}
	var all strings.Builder
	for _, path := range found {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "%s %x\n", filepath.Base(path), text)
	}
	return all.String()
}

// An engine of an earlier version is shown by a sidecar of this one, and the other way round: what it
// did, that it takes requests, and that it ended.
//
//promise:versions version
//promise:counters version
func TestEnginesAndSidecarsOfTwoVersionsTalk(t *testing.T) {
	each(t, func(t *testing.T, _ version, program string) {
		for _, way := range []struct{ name, engine, sidecar string }{
			{"engine first", kit.Built().Pnagent, program},
			{"sidecar first", program, kit.Built().Pnagent},
		} {
			t.Run(way.name, func(t *testing.T) {
				b := newBus(t)
				b.t = t
				side := b.sidecar(way.sidecar, t.TempDir())
				engine := b.engine(way.engine, "munich")
				shows(t, side, 40)
				b.inject("munich", 7)
				shows(t, side, 47)
				engine.Signal(t, syscall.SIGTERM)
				engine.Wait(t)
				kit.Until(t, "the tokens of the engine left the sums", func() error {
					if tokens := side.Scrape(t).Numbers().Tokens; len(tokens) > 0 && tokens[kit.Key{Net: "claims", ID: "awaiting answer"}] != 0 {
						return fmt.Errorf("%v", tokens)
					}
					return nil
				})
				shows(t, side, 47)
			})
		}
	})
}
