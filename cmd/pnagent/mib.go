// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/pnagent/pnagent/mib"
)

type mibCmd struct {
	Dir     string     `default:"mibs" help:"Directory to write the modules into."`
	Lock    string     `placeholder:"FILE" help:"File that holds the numbers. Default: oids.lock in the directory."`
	OIDRoot string     `name:"oid-root" default:"${oid_root}" help:"OID under which everything is served: .1 is PETRINET-MIB, .2.N the module of net number N."`
	Files   []string   `arg:"" name:"net" optional:"" help:"PNML files; - is standard input. Without one only PETRINET-MIB is written."`
	Limit   limitFlags `embed:""`
}

// Run writes the modules and says which changed.
func (c *mibCmd) Run(s streams) error {
	root, err := mib.ParseRoot(c.OIDRoot)
	if err != nil {
		return usageError{fmt.Errorf("--oid-root: %w", err)}
	}
	tables, err := compileNets(c.Files, s, c.Limit)
	if err != nil {
		return err
	}
	if c.Lock == "" {
		c.Lock = filepath.Join(c.Dir, mib.LockFile)
	}
	written, err := mib.Generate(c.Dir, c.Lock, root, netsOf(tables), time.Now())
	for _, w := range written {
		state := "unchanged"
		if w.Changed {
			state = "written"
		}
		fmt.Fprintf(s.out, "%-10s %s\n", state, w.Path)
	}
	return err
}
