// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"text/tabwriter"
)

// listMappings prints the mappings that come with pnagent for an adapter.
func listMappings[M any](w io.Writer, shipped func() ([]M, error), describe func(M) (name, about string)) error {
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

// printMapping prints a mapping that comes with pnagent.
func printMapping(w io.Writer, name string, source func(name string) ([]byte, error)) error {
	text, err := source(name)
	if errors.Is(err, fs.ErrNotExist) {
		return usageError{fmt.Errorf("--print: no mapping %q comes with pnagent; see --list", name)}
	}
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}
