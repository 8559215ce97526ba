// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

//go:embed mappings/*.yaml
var shipped embed.FS

// Shipped returns the mappings that come with pnagent, by name.
func Shipped() ([]*Mapping, error) {
	files, err := fs.ReadDir(shipped, "mappings")
	if err != nil {
		return nil, err
	}
	var all []*Mapping
	for _, f := range files {
		m, err := Load(strings.TrimSuffix(f.Name(), ".yaml"))
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// Source returns the text of a shipped mapping. The error wraps fs.ErrNotExist
// if there is none of the name.
func Source(name string) ([]byte, error) {
	return shipped.ReadFile("mappings/" + name + ".yaml")
}

// Load reads a shipped mapping by its name, or else a file.
func Load(name string) (*Mapping, error) {
	if text, err := Source(name); err == nil {
		return ReadMapping(bytes.NewReader(text), name)
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("mapping %s: no such file, and no mapping of that name comes with pnagent; see pnagent attach scrape --list", name)
	}
	if err != nil {
		return nil, fmt.Errorf("mapping: %w", err)
	}
	defer f.Close()
	return ReadMapping(f, name)
}
