// SPDX-License-Identifier: Apache-2.0

package integrations

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/internal/atomicfile"
	"github.com/pnagent/pnagent/mib"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/petri"
)

var (
	// ErrTool is wrapped by the error of an unknown tool.
	ErrTool = errors.New("unknown tool")
	// ErrNumber is wrapped by the error of a net, place or transition that the lock does not have.
	ErrNumber = errors.New("no number in the OID lock")
)

// All stands for every tool.
const All = "all"

// Options are what differs between sites.
type Options struct {
	Root  smi.OID
	Nets  []*petri.Net // for tools that discover nothing
	Lock  *mib.Lock    // has the numbers of Nets
	Rules *alarm.Rules // nil for alarm.DefaultRules
	Base  fs.FS        // stubs of the modules that PETRINET-MIB imports from, one file each
}

// File is a generated file.
type File = atomicfile.File

// tool is a generator.
type tool struct {
	name    string
	modules bool // its files use PETRINET-MIB
	nets    bool // it has files for the given nets, by their numbers
	files   func(*site) []File
}

func tools() []tool {
	return []tool{
		{"zabbix", true, false, zabbixFiles},
		{"snmp-exporter", false, false, exporterFiles},
		{"telegraf", true, false, func(s *site) []File { return s.files("telegraf", "pnagent.conf", "README.md") }},
		{"nagios", false, true, func(s *site) []File { return s.files("nagios", "pnagent.cfg", "pnagent.ini", "README.md") }},
		{"icinga", false, true, func(s *site) []File { return s.files("icinga", "pnagent.conf", "README.md") }},
		{"collectd", false, false, func(s *site) []File { return s.files("collectd", "pnagent.conf", "README.md") }},
		{"librenms", true, false, func(s *site) []File {
			return s.files("librenms", "os_detection/pnagent.yaml", "os_discovery/pnagent.yaml", "README.md")
		}},
		{"cacti", true, false, cactiFiles},
		{"snmptrapd", true, false, func(s *site) []File {
			return s.files("snmptrapd", "snmptrapd.conf", "snmptrapd.service.d/pnagent.conf", "README.md")
		}},
		{"snmptt", false, false, func(s *site) []File { return s.files("snmptt", "snmptt.conf.pnagent", "README.md") }},
	}
}

// Tools returns the names of all tools.
func Tools() (names []string) {
	for _, t := range tools() {
		names = append(names, t.name)
	}
	return names
}

// site is what generators read.
type site struct {
	Options
	described mib.Description
	objects   map[string]mib.Object
}

func newSite(o Options) *site {
	if o.Rules == nil {
		o.Rules = alarm.DefaultRules()
	}
	s := &site{Options: o, described: mib.Describe(o.Root), objects: map[string]mib.Object{}}
	for _, section := range s.described.Sections {
		for _, object := range section.Objects {
			s.objects[object.Name] = object
		}
	}
	return s
}

// Files returns what Generate writes for a tool, or for All.
func Files(name string, o Options) (all []File, err error) {
	if name != All && !slices.Contains(Tools(), name) {
		return nil, fmt.Errorf("%w: %q; expected %s or %s", ErrTool, name, strings.Join(Tools(), ", "), All)
	}
	s, modules := newSite(o), false
	for _, t := range tools() {
		if name == All || name == t.name {
			if err := s.numbered(); t.nets && err != nil {
				return nil, err
			}
			all = append(all, t.files(s)...)
			modules = modules || t.modules
		}
	}
	if !modules {
		return all, nil
	}
	found, err := s.modules()
	return append(all, found...), err
}

// numbered reports a net, or an element of one, that has no number.
func (s *site) numbered() error {
	for _, net := range s.Nets {
		locked := s.Lock.Net(net.ID)
		if locked == nil {
			return fmt.Errorf("net %q: %w; pnagent mib numbers it", net.ID, ErrNumber)
		}
		for i := range net.Places {
			if id := net.Places[i].ID; locked.Place(id) == nil {
				return fmt.Errorf("place %q of net %q: %w; pnagent mib numbers it", id, net.ID, ErrNumber)
			}
		}
		for i := range net.Transitions {
			if id := net.Transitions[i].ID; locked.Transition(id) == nil {
				return fmt.Errorf("transition %q of net %q: %w; pnagent mib numbers it", id, net.ID, ErrNumber)
			}
		}
	}
	return nil
}

// modules returns PETRINET-MIB and what it imports from.
func (s *site) modules() ([]File, error) {
	text, err := mib.PetrinetMIB(s.Root)
	if err != nil {
		return nil, err
	}
	all := []File{{Path: "mibs/" + mib.PetrinetModule + ".mib", Content: text}}
	entries, err := fs.ReadDir(s.Base, ".")
	if err != nil {
		return nil, fmt.Errorf("reading the base modules: %w", err)
	}
	for _, e := range entries {
		text, err := fs.ReadFile(s.Base, e.Name())
		if err != nil {
			return nil, fmt.Errorf("reading the base modules: %w", err)
		}
		all = append(all, File{Path: "mibs/smi/" + e.Name(), Content: text})
	}
	return all, nil
}

// Generate writes the files of a tool, or of All, below dir, which it creates if necessary.
// It does not touch files that are current. The error wraps ErrTool for an unknown tool, and
// ErrNumber for a net without numbers that the tool needs.
func Generate(dir, name string, o Options) ([]atomicfile.Written, error) {
	files, err := Files(name, o)
	if err != nil {
		return nil, err
	}
	written, err := atomicfile.UpdateAll(dir, files)
	if err != nil {
		return written, fmt.Errorf("writing the configuration of %s: %w", name, err)
	}
	return written, nil
}
