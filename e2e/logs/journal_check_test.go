// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
)

// examined is what journal check --json prints.
type examined struct {
	Files struct {
		Segments []struct{ Name string }
		Last     uint64
	}
	Journal struct {
		Sound     uint64
		Instances int
	}
	Replayed bool
	Fault    string
}

func checkJournal(t *testing.T, code int, dir, net, bindings string) (x examined) {
	t.Helper()
	r := kit.Pnagent(t, "journal", "check", "--json", "--bindings", bindings, dir, net)
	if err := json.Unmarshal([]byte(r.Out), &x); err != nil || r.Code != code || !x.Replayed {
		t.Fatalf("got exit code %d; want %d; %v: %s%s", r.Code, code, err, r.Out, r.Err)
	}
	return x
}

// The journal of an engine that was killed is sound up to its last commit. A commit
// that is damaged is named with its file; a copy that ends before it is sound, and
// an engine continues from it. The journal does not change. It does not fit bindings by
// which a transition has become immediate.
//
//promise:damage damage
func TestADamagedJournalIsNamedAndACopyBeforeItIsPlayedOn(t *testing.T) {
	t.Parallel()
	natsURL := kit.StartNATS(t)
	nc := kit.Connect(t, natsURL)
	net, dir := kit.Write(t, "ring.pnml", kit.RingNet), filepath.Join(t.TempDir(), "journal")
	bindings := kit.Write(t, "bindings.yaml", "nets: {ring: {transitions: {ab: manual, bc: manual, bc too: manual, ca: manual}}}")
	e := kit.RunEngine(t, natsURL, "lives", "--journal", dir, "--instances", "3", "--interval", "1m", "--bindings", bindings, net)
	for n := range 20 {
		kit.Until(t, "an injection is acknowledged", func() error {
			if !inject(nc, n%3, 1) {
				return errors.New("it is not")
			}
			return nil
		})
	}
	e.Kill(t)
	whole := checkJournal(t, 0, dir, net, bindings)
	if whole.Fault != "" || whole.Journal.Sound != whole.Files.Last || whole.Files.Last < 20 || whole.Journal.Instances != 3 {
		t.Fatalf("%+v", whole)
	}
	kit.WantFailure(t, kit.Pnagent(t, "engine", "--journal", dir, "--instances", "3", "--firings", "1", net), 1, "comes to rest while an immediate transition is enabled")
	segment := filepath.Join(dir, whole.Files.Segments[len(whole.Files.Segments)-1].Name)
	text, err := os.ReadFile(segment)
	if err != nil {
		t.Fatal(err)
	}
	at := len(text) / 2
	text[at] ^= 0x40
	if err := os.WriteFile(segment, text, 0o600); err != nil {
		t.Fatal(err)
	}
	damaged := checkJournal(t, 1, dir, net, bindings)
	sound := damaged.Journal.Sound
	if damaged.Fault == "" || sound == 0 || sound >= whole.Files.Last || !bytes.Contains([]byte(damaged.Fault), []byte(filepath.Base(segment))) {
		t.Fatalf("%+v; want a fault in %s", damaged, segment)
	}
	kit.WantFailure(t, kit.Pnagent(t, "engine", "--journal", dir, "--instances", "3", "--firings", "1", "--bindings", bindings, net), 1, filepath.Base(segment))
	out := filepath.Join(t.TempDir(), "copy")
	kit.WantFailure(t, kit.Pnagent(t, "journal", "repair", dir, "--to", fmt.Sprint(sound+1), "--out", out), 1, filepath.Base(segment))
	if r := kit.Pnagent(t, "journal", "repair", dir, "--to", fmt.Sprint(sound), "--out", out); r.Code != 0 {
		t.Fatalf("%+v", r)
	}
	kit.WantFailure(t, kit.Pnagent(t, "journal", "repair", dir, "--to", fmt.Sprint(sound), "--out", out), 1, "exist")
	if cut := checkJournal(t, 0, out, net, bindings); cut.Files.Last != sound || cut.Journal.Sound != sound {
		t.Errorf("%+v; want it to end at %d", cut, sound)
	}
	if now, err := os.ReadFile(segment); err != nil || !bytes.Equal(now, text) {
		t.Errorf("the journal was changed: %v", err)
	}
	e = kit.RunEngine(t, natsURL, "lives", "--journal", out, "--instances", "3", "--bindings", bindings, net)
	kit.Until(t, "an injection is acknowledged", func() error {
		if !inject(nc, 0, 1) {
			return errors.New("it is not")
		}
		return nil
	})
	e.Stop(t, os.Interrupt)
	var tokens uint64
	for _, m := range kit.ParseReport(t, e.Out.String()).Nets["ring"].Tokens {
		tokens += m
	}
	if tokens <= 4 || tokens >= 24 {
		t.Errorf("%d tokens; want those of some of 20 injections, of one more, and 3 of the initial marking", tokens)
	}
}

func TestLogsInJetStreamAreNotForJournalCheck(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"jetstream", "nats://127.0.0.1:4222"} {
		kit.WantFailure(t, kit.Pnagent(t, "journal", "check", what), 2, what+" is not a directory.*expected the directory of a journal.*pnagent regions")
		kit.WantFailure(t, kit.Pnagent(t, "journal", "repair", what, "--to", "1", "--out", filepath.Join(t.TempDir(), "copy")), 2, what+" is not a directory")
	}
	kit.WantFailure(t, kit.Pnagent(t, "journal", "check", filepath.Join(t.TempDir(), "none")), 1, "no such file or directory")
}
