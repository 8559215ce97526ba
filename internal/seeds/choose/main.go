// SPDX-License-Identifier: Apache-2.0

// Command choose finds the seeds with which a random test reaches what it
// reaches with all: each block of code as often as -times, or as often as all
// seeds reach it. It runs the test once for each seed, so the test must take its
// seeds from internal/seeds.
//
//	go run ./internal/seeds/choose -all 600 ./engine/coloured TestTheMachineIsTheModel
//
// It prints the shortest run of first seeds that is enough, and how few are
// enough if others are chosen after -few.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/pnagent/pnagent/internal/seeds"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "choose:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	all := flag.Uint64("all", 100, "`number` of seeds that the test has in make long")
	few := flag.Uint64("few", 10, "`number` of first seeds that run in any case")
	times := flag.Int("times", 3, "how `often` each block must be reached, by different seeds")
	of := flag.String("of", "", "`packages` whose blocks count (the test's own and those below it)")
	flag.Parse()
	if flag.NArg() != 2 || *all == 0 || *few > *all || *times < 1 {
		return errors.New("expected a package, a test, at least one seed, and at most as few as all")
	}
	pkg, test := flag.Arg(0), flag.Arg(1)
	if *of == "" {
		*of = pkg + "/..."
	}
	dir, err := os.MkdirTemp("", "choose-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // of the temporary directory, whatever is left
	binary := filepath.Join(dir, "test")
	if out, err := exec.CommandContext(ctx, "go", "test", "-c", "-o", binary, "-covermode", "set", "-coverpkg", *of, pkg).CombinedOutput(); err != nil {
		return fmt.Errorf("building the test: %w\n%s", err, out)
	}
	reached := make([]map[string]bool, *all)
	for seed := range *all {
		profile := filepath.Join(dir, "profile")
		c := exec.CommandContext(ctx, binary, "-test.run", "^"+test+"$", "-test.coverprofile", profile)
		c.Dir, c.Env = pkg, append(os.Environ(), fmt.Sprintf("%s=%d", seeds.One, seed))
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("seed %d: %w\n%s", seed, err, out)
		}
		reached[seed], err = blocks(profile)
		if err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "\r%d of %d seeds", seed+1, *all)
	}
	fmt.Fprintln(os.Stderr)
	enough := demand(reached, *times)
	fmt.Printf("%s: %d blocks; the first %d of %d seeds are enough\n", test, len(enough), prefix(reached, enough), *all)
	fmt.Printf("seeds.Of(%s)\n", strings.Trim(strings.Join(strings.Fields(fmt.Sprint(append([]uint64{*few, *all}, choose(reached, enough, *few)...))), ", "), "[]"))
	return nil
}

// blocks returns the blocks of code that a profile of coverage counts.
func blocks(profile string) (map[string]bool, error) {
	text, err := os.ReadFile(profile)
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if block, hit := strings.CutSuffix(lines.Text(), " 1"); hit {
			found[block] = true
		}
	}
	return found, nil
}

// demand returns how many seeds must reach each block.
func demand(reached []map[string]bool, times int) map[string]int {
	enough := map[string]int{}
	for _, found := range reached {
		for block := range found {
			enough[block] = min(enough[block]+1, times)
		}
	}
	return enough
}

// prefix returns how many first seeds are enough.
func prefix(reached []map[string]bool, enough map[string]int) int {
	missing := maps.Clone(enough)
	for i, found := range reached {
		if len(missing) == 0 {
			return i
		}
		take(missing, found)
	}
	return len(reached)
}

// choose returns seeds that are enough together with the first few: the one that
// reaches most of what is missing, again and again.
func choose(reached []map[string]bool, enough map[string]int, few uint64) (chosen []uint64) {
	missing := maps.Clone(enough)
	for _, found := range reached[:few] {
		take(missing, found)
	}
	used := map[int]bool{}
	for len(missing) > 0 {
		best, most := 0, 0
		for i := int(few); i < len(reached); i++ {
			n := 0
			for block := range missing {
				if reached[i][block] {
					n++
				}
			}
			if n > most && !used[i] {
				best, most = i, n
			}
		}
		used[best] = true
		take(missing, reached[best])
		chosen = append(chosen, uint64(best))
	}
	return chosen
}

// take removes what a seed reaches from what is missing.
func take(missing map[string]int, found map[string]bool) {
	for block := range found {
		switch n := missing[block]; {
		case n == 1:
			delete(missing, block)
		case n > 1:
			missing[block] = n - 1
		}
	}
}
