// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"embed"

	"github.com/pnagent/pnagent/attach/internal/shipped"
)

//go:embed mappings/*.yaml
var files embed.FS

// Mappings are those that come with pnagent.
var Mappings = shipped.Mappings[*Mapping]{Files: files, Ext: ".yaml", Adapter: "scrape", Read: ReadMapping,
	Describe: func(m *Mapping) (name, about string) { return m.Name, m.About }}
