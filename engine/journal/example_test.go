// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/pnagent/pnagent/engine/journal"
)

// A counter that survives its process: each commit is a step, and the state is
// the number of commits.
func Example() {
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	for range 3 {
		if err := count(dir); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// found 0
	// found 2
	// found 4
}

func count(dir string) (err error) {
	f, warnings, err := journal.Open(dir, journal.Options{Mode: journal.SyncAlways})
	if err != nil {
		return err
	}
	for _, w := range warnings {
		fmt.Println("warning:", w)
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	ctx := context.Background()
	n := 0
	upTo, err := f.LoadSnapshot(ctx, func(r io.Reader) error { _, err := fmt.Fscan(r, &n); return err })
	if err != nil {
		return err
	}
	for _, err := range f.Read(ctx, upTo+1) {
		if err != nil {
			return err
		}
		n++
	}
	fmt.Println("found", n)
	last, err := f.Append(ctx, f.Last(), []byte("step"), []byte("step"))
	if err != nil {
		return err
	}
	return f.SaveSnapshot(ctx, last, func(w io.Writer) error { _, err := fmt.Fprint(w, n+2); return err })
}
