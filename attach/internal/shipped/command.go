// SPDX-License-Identifier: Apache-2.0

package shipped

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"text/tabwriter"

	"github.com/pnagent/pnagent/cli"
)

// List prints the mappings that come with pnagent for an adapter.
func List[M any](w io.Writer, shipped func() ([]M, error), describe func(M) (name, about string)) error {
	all, err := shipped()
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, m := range all {
		name, about := describe(m)
		fmt.Fprintf(t, "%s\t%s\n", name, about)
	}
	return t.Flush()
}

// Print prints a mapping that comes with pnagent.
func Print(w io.Writer, name string, source func(name string) ([]byte, error)) error {
	text, err := source(name)
	if errors.Is(err, fs.ErrNotExist) {
		return cli.Usage(fmt.Errorf("--print: no mapping %q comes with pnagent; see --list", name))
	}
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}
