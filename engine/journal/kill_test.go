// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/internal/seeds"
)

// childDir is the environment variable that turns the test binary into a child,
// which appends to the journal in that directory until it is killed.
const childDir = "PNAGENT_TEST_JOURNAL_DIR"

// payloadOf returns the payload that the child appends as the commit of a
// number.
func payloadOf(sequence uint64) []byte {
	b := binary.LittleEndian.AppendUint64(nil, sequence*0x9e3779b97f4a7c15)
	return append(b, strings.Repeat("p", int(sequence*31%700))...)
}

// child appends groups and saves snapshots. It prints the number of the last
// commit that Append has accepted.
func child(dir string) error {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(uint64(os.Getpid()), 0))
	f, _, err := Open(dir, Options{Mode: SyncMode(rng.IntN(3)), SegmentBytes: 20_000})
	if err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	for last, now := f.Last(), int64(0); ; now += 20_000 {
		var group [][]byte
		for i := range 1 + rng.Uint64N(20) {
			group = append(group, payloadOf(last+1+i))
		}
		if last, err = f.Append(ctx, last, group...); err != nil {
			return err
		}
		fmt.Fprintln(out, last)
		if err := errors.Join(out.Flush(), f.Sync(ctx, now)); err != nil {
			return err
		}
		if rng.IntN(30) == 0 {
			err := f.SaveSnapshot(ctx, last, func(w io.Writer) error { _, err := fmt.Fprint(w, last); return err })
			if err != nil {
				return err
			}
		}
	}
}

//promise:durable kill
func TestKillMinusNineLosesNoAcceptedCommitAndShowsNoHalfOne(t *testing.T) {
	dir := t.TempDir()
	rounds, torn := 0, 0
	for seed := range seeds.Of(10, 60) {
		rng := rand.New(rand.NewPCG(1, seed))
		accepted := runAndKill(t, dir, 1+rng.IntN(200))
		torn += checkAfterKill(t, dir, accepted)
		rounds++
	}
	t.Logf("%d kills, %d torn tails", rounds, torn)
}

// runAndKill starts the child and kills it after it has printed some lines. It
// returns the last number that the child printed.
func runAndKill(t *testing.T, dir string, lines int) (accepted uint64) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+dir)
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewScanner(out)
	for n := 0; in.Scan(); n++ {
		if n == lines {
			cmd.Process.Kill()
		}
		// Lines that are still in the pipe are of accepted commits, too.
		if accepted, err = strconv.ParseUint(in.Text(), 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Wait(); err == nil || complaint.Len() > 0 {
		t.Fatalf("the child ended with %v: %s", err, &complaint)
	}
	return accepted
}

func checkAfterKill(t *testing.T, dir string, accepted uint64) (torn int) {
	t.Helper()
	ctx := context.Background()
	f, warnings, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Last() < accepted {
		t.Fatalf("%d commits were accepted, the journal has %d; %v", accepted, f.Last(), warnings)
	}
	upTo, err := f.LoadSnapshot(ctx, func(r io.Reader) error {
		b, err := io.ReadAll(r)
		if err == nil && string(b) != fmt.Sprint(f.newest) {
			t.Errorf("the snapshot up to %d holds %q", f.newest, b)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	next := upTo + 1
	for c, err := range f.Read(ctx, next) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Sequence != next || string(c.Payload) != string(payloadOf(next)) {
			t.Fatalf("commit %d differs from the one appended as %d", c.Sequence, next)
		}
		next++
	}
	if next != f.Last()+1 {
		t.Fatalf("the commits end with %d, want %d", next-1, f.Last())
	}
	return len(warnings)
}
