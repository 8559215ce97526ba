// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/internal/atomicfile"
	"github.com/pnagent/pnagent/mib"
	"github.com/pnagent/pnagent/mibs"
)

type mibCmd struct {
	Dir     string     `default:"mibs" help:"Directory to write the modules into."`
	Lock    string     `placeholder:"FILE" help:"File that holds the numbers. Default: oids.lock in the directory."`
	OIDRoot string     `name:"oid-root" default:"${oid_root}" help:"OID under which everything is served: .1 is PETRINET-MIB, .2.N the module of net number N."`
	Install bool       `xor:"install" help:"Also copy the modules to where net-snmp's tools look for them: the first directory of MIBDIRS, ~/.snmp/mibs, /usr/local/share/snmp/mibs or /usr/share/snmp/mibs that can be written to, with stubs of the base modules that they import from, such as SNMPv2-SMI, where these are missing. Without --yes it only lists the files."`
	Yes     bool       `help:"Let --install write the files that it lists."`
	Remove  bool       `name:"uninstall" xor:"install" help:"Only remove what --install wrote into these directories, except what has changed since."`
	Objects mib.Level  `default:"auto" enum:"auto,all,few,one" help:"Objects of each place and transition in the modules of nets: all, few (tokens and oldest age; firings and enabled age) or one (that age). auto keeps what oids.lock has, and chooses for a new module the first of these with at most 10000 objects. PETRINET-MIB always has all of them. Only all itself also has objects of what is not work, such as the counters of a loop of BPMN; serve needs --objects=all, too."`
	Contact string     `default:"${mib_contact}" help:"CONTACT-INFO of the modules of nets, such as the address of the team that runs them."`
	Files   []string   `arg:"" name:"net" optional:"" help:"Net files: PNML, BPMN, Tina's .net or LoLA; - is standard input. Without one only PETRINET-MIB is written."`
	Limit   cli.Limits `embed:""`
}

// Run writes the modules and says which changed.
func (c *mibCmd) Run(s streams, log *slog.Logger) error {
	if c.Yes && !c.Install {
		return cli.Usage(errors.New("--yes is of --install"))
	}
	if c.Remove {
		return uninstall(s)
	}
	root, err := mib.ParseRoot(c.OIDRoot)
	if err != nil {
		return cli.Usage(fmt.Errorf("--oid-root: %w", err))
	}
	tables, err := cli.CompileNets(c.Files, s.in, c.Limit, log)
	if err != nil {
		return err
	}
	c.Lock = cmp.Or(c.Lock, filepath.Join(c.Dir, mib.LockFile))
	written, err := mib.Generate(c.Dir, c.Lock, root, cli.NetsOf(tables), mib.Options{Contact: c.Contact, Objects: c.Objects}, time.Now())
	reportModules(s, written)
	for _, w := range written {
		if w.Objects > mib.MostObjects {
			log.Warn("tools read a module of so many objects slowly; choose less with --objects, or use the tables of PETRINET-MIB", "module", w.Module, "objects", w.Objects)
		}
	}
	if err != nil || !c.Install {
		return err
	}
	return install(s, written, c.Yes)
}

func reportModules(s streams, written []mib.Written) {
	for _, w := range written {
		s.report(w.Path, w.Changed)
		if w.Renamed > 0 {
			fmt.Fprintf(s.out, "renamed    %d descriptors of net %q; no OID moved\n", w.Renamed, w.Net)
		}
	}
}

// reportAll prints which files were written.
func (s streams) reportAll(written []atomicfile.Written) {
	for _, w := range written {
		s.report(w.Path, w.Changed)
	}
}

// report prints whether a file was written.
func (s streams) report(path string, changed bool) {
	state := "unchanged"
	if changed {
		state = "written"
	}
	fmt.Fprintf(s.out, "%-10s %s\n", state, path)
}

// install lists what it copies to where net-snmp's tools find it, and, if it may, copies that and
// prints how to have it read.
func install(s streams, made []mib.Written, may bool) error {
	dirs := mib.InstallDirs(os.Getenv)
	base, err := fs.Sub(mibs.Base, "smi")
	if err != nil {
		return err
	}
	plan, err := mib.PlanInstall(dirs, made, base)
	if err != nil {
		return fmt.Errorf("tried %s: %w", strings.Join(dirs, ", "), err)
	}
	stubs, differ := false, false
	for _, f := range plan.Files {
		stubs = stubs || f.Stub
		differ = differ || !f.Same
		fmt.Fprintf(s.out, "%-10s %s\n", planned(&f), f.Path)
	}
	if stubs {
		fmt.Fprintln(s.out, "of the base modules that they import from, those that were missing are stubs, enough for these modules; for others install those of the RFCs, on Debian by snmp-mibs-downloader")
	}
	if differ && !may {
		return errors.New("--install wrote none of these files; add --yes to write them, and set MIBDIRS to choose another directory")
	}
	if err := plan.Write(); err != nil {
		return err
	}
	modules := readBy(made)
	fmt.Fprintf(s.out, "net-snmp's tools find them in %s; have them read with -m %s, or with the line \"mibs %s\" in snmp.conf; pnagent mib --uninstall removes them\n", plan.Dir, modules, modules)
	return nil
}

// planned returns what becomes of a file.
func planned(f *mib.Installed) string {
	switch {
	case f.Same:
		return "unchanged"
	case f.Exists:
		return "replace"
	}
	return "write"
}

func uninstall(s streams) error {
	removed, kept, err := mib.Uninstall(mib.InstallDirs(os.Getenv))
	for _, path := range removed {
		fmt.Fprintf(s.out, "removed    %s\n", path)
	}
	for _, path := range kept {
		fmt.Fprintf(s.out, "kept       %s has changed since it was installed\n", path)
	}
	if err == nil && len(removed)+len(kept) == 0 {
		fmt.Fprintln(s.out, "nothing is installed")
	}
	return err
}

// readBy returns the list of modules for net-snmp's tools. It replaces their default one: where the
// modules of the RFCs are missing, as on Debian, the tools warn of each module of the default one.
func readBy(made []mib.Written) string {
	modules := []string{mib.PetrinetModule}
	for _, w := range made {
		if w.Net != "" {
			modules = append(modules, w.Module)
		}
	}
	return strings.Join(modules, ":")
}
