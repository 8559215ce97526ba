// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"embed"

	"github.com/pnagent/pnagent/attach/internal/shipped"
)

//go:embed mappings/*.yaml
var files embed.FS

var mappings = shipped.Mappings[*Mapping]{Files: files, Ext: ".yaml", Adapter: "scrape", Read: ReadMapping}

// Shipped returns the mappings that come with pnagent, by name.
func Shipped() ([]*Mapping, error) { return mappings.All() }

// Source returns the text of a shipped mapping. The error wraps fs.ErrNotExist
// if there is none of the name.
func Source(name string) ([]byte, error) { return mappings.Source(name) }

// Load reads a shipped mapping by its name, or else a file.
func Load(name string) (*Mapping, error) { return mappings.Load(name) }
