// SPDX-License-Identifier: Apache-2.0

// Package shipped has the mapping files that come with an adapter.
package shipped

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/pnagent/pnagent/cli"
)

// Mappings are the files of one adapter, and how one becomes an M.
type Mappings[M any] struct {
	Files   embed.FS // with the folder mappings
	Ext     string   // of the files, such as ".yaml"
	Adapter string   // its command, for messages
	Read    func(r io.Reader, name string) (M, error)

	Describe func(M) (name, about string) // about is one line for people
}

// All returns the mappings that come with pnagent, by name.
func (s *Mappings[M]) All() ([]M, error) {
	files, err := fs.ReadDir(s.Files, "mappings")
	if err != nil {
		return nil, err
	}
	var all []M
	for _, f := range files {
		m, err := s.Load(strings.TrimSuffix(f.Name(), s.Ext))
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// Source returns the text of a shipped mapping. The error wraps fs.ErrNotExist
// if there is none of the name.
func (s *Mappings[M]) Source(name string) ([]byte, error) {
	return s.Files.ReadFile("mappings/" + name + s.Ext)
}

// Load reads a shipped mapping by its name, or else a file.
func (s *Mappings[M]) Load(name string) (m M, err error) {
	if text, err := s.Source(name); err == nil {
		return s.Read(bytes.NewReader(text), name)
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("mapping %s: no such file, and no mapping of that name comes with pnagent; see pnagent attach %s --list", name, s.Adapter)
	}
	if err != nil {
		return m, fmt.Errorf("mapping: %w", err)
	}
	defer f.Close()
	return s.Read(f, name)
}

// List prints the mappings that come with pnagent.
func (s *Mappings[M]) List(w io.Writer) error {
	all, err := s.All()
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, m := range all {
		name, about := s.Describe(m)
		fmt.Fprintf(t, "%s\t%s\n", name, about)
	}
	return t.Flush()
}

// Print prints a mapping that comes with pnagent.
func (s *Mappings[M]) Print(w io.Writer, name string) error {
	text, err := s.Source(name)
	if errors.Is(err, fs.ErrNotExist) {
		return cli.Usage(fmt.Errorf("--print: no mapping %q comes with pnagent; see --list", name))
	}
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}
