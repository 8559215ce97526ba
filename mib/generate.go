// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"time"

	"github.com/pnagent/pnagent/internal/atomicfile"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/petri"
)

// ErrSameNet is wrapped by the error of Generate if two nets have the same id.
var ErrSameNet = errors.New("two nets with one id")

// Written is one file of Generate.
type Written struct {
	Path    string
	Module  string // "" for the lock
	Changed bool   // false if the file had this content already
	Net     string // id of the net of the module; "" if it is of none
	Renamed int    // descriptors of the net that were renamed, see Generate
	Objects int    // objects of the net's places and transitions; more than MostObjects are read slowly
}

// Options are choices for the modules of nets.
type Options struct {
	Contact string // CONTACT-INFO, such as the operator's address; Contact if empty
	Objects Level  // of the modules of the given nets; LevelAuto if empty. With LevelAll, they also have what is not work: see petri.Role
}

// Generate writes PETRINET-MIB, PETRINET-CAPS-MIB and the module of each net into dir, as
// MODULE.mib, and adds new names to the lock at lockPath. Places and
// transitions that left their net become obsolete. Modules of other nets in the lock do not
// change. The names of a net in a lock of the first edition, which have no prefix, are renamed
// once; their OIDs do not move.
//
// The same nets, options, root and lock give the same bytes: now dates a revision only if the content
// of its module changed.
func Generate(dir, lockPath string, root smi.OID, nets []*petri.Net, opts Options, now time.Time) ([]Written, error) {
	petrinet, err := PetrinetMIB(root)
	if err != nil {
		return nil, err
	}
	if err := distinct(nets); err != nil {
		return nil, err
	}
	files := []moduleFile{{name: PetrinetModule, text: petrinet}, {name: CapsModule, text: CapsMIB()}}
	changed, err := UpdateLock(lockPath, func(lock *Lock) error {
		for _, def := range nets {
			module, err := generate(lock, root, def, opts, now)
			if err != nil {
				return err
			}
			files = append(files, module)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return writeModules(dir, files, []Written{{Path: lockPath, Changed: changed}})
}

func writeModules(dir string, files []moduleFile, written []Written) ([]Written, error) {
	for _, f := range files {
		path := filepath.Join(dir, f.name+".mib")
		changed, err := atomicfile.Update(path, f.text, 0o644)
		if err != nil {
			return written, fmt.Errorf("write module %s: %w", f.name, err)
		}
		written = append(written, Written{Path: path, Module: f.name, Changed: changed, Net: f.net, Renamed: f.renamed, Objects: f.objects})
	}
	return written, nil
}

type moduleFile struct {
	name    string
	text    []byte
	net     string
	renamed int
	objects int
}

func distinct(nets []*petri.Net) error {
	seen := map[string]*petri.Net{}
	for _, n := range nets {
		if first := seen[n.ID]; first != nil {
			return fmt.Errorf("net %q of %s is also in %s: %w", n.ID, n.File, first.File, ErrSameNet)
		}
		seen[n.ID] = n
	}
	return nil
}

// generate adds one net to the lock and returns its module.
func generate(lock *Lock, root smi.OID, def *petri.Net, opts Options, now time.Time) (moduleFile, error) {
	if err := def.Validate(); err != nil {
		return moduleFile{}, fmt.Errorf("make a module of net %q: %w", def.ID, err)
	}
	shown := def
	if opts.Objects != LevelAll {
		shown = def.Work()
	}
	before := newPresence(lock.Net(def.ID))
	net, _, err := lock.Assign(def.ID, shown)
	if err != nil {
		return moduleFile{}, fmt.Errorf("make a module: %w", err)
	}
	renamed := 0
	if net.Prefix == "" {
		if renamed, err = lock.rename(net, def); err != nil {
			return moduleFile{}, err
		}
	}
	net.retire(shown)
	chosen, err := net.choose(opts.Objects)
	if err != nil {
		return moduleFile{}, fmt.Errorf("make a module of net %q: %w", def.ID, err)
	}
	m := newNetText(net, def, shown, opts)
	// The root is not in the module's text but decides its OIDs.
	m.heading("Registered as " + root.Append(subNets, net.Number).String())
	net.revise(m.digest(m.identity()), before.changes(net, renamed > 0, chosen), now)
	if before == nil {
		renamed = 0 // no module had the names
	}
	return moduleFile{net.Module, m.text(m.identity()), def.ID, renamed, net.objects(net.level)}, nil
}

// revise adds a revision if the content differs from the last one. A change within the
// minute of the last revision becomes part of it.
func (n *LockedNet) revise(digest, text string, now time.Time) {
	date := now.UTC().Format(dateLayout)
	last := len(n.revisions) - 1
	switch {
	case last >= 0 && n.revisions[last].digest == digest:
	case last >= 0 && date <= n.revisions[last].date:
		r := &n.revisions[last]
		r.digest = digest
		if !strings.Contains(r.text, text) {
			r.text = clip(r.text+" "+text, clipDoc)
		}
	default:
		n.addRevision(revision{date: date, digest: digest, text: text})
	}
}

// presence is which places and transitions a net had when its module was last
// generated, by their names in a sentence; nil before the first time.
type presence map[string]bool

func newPresence(net *LockedNet) presence {
	if net == nil || len(net.revisions) == 0 {
		return nil
	}
	had := presence{}
	for name, e := range net.members() {
		had[name] = !e.Obsolete
	}
	return had
}

// changes says in words what came and went, and whether all names or the level of objects are
// others.
func (p presence) changes(net *LockedNet, renamed, chosen bool) string {
	if p == nil {
		return "First version."
	}
	var added, removed []string
	for name, e := range net.members() {
		switch {
		case !e.Obsolete && !p[name]:
			added = append(added, name)
		case e.Obsolete && p[name]:
			removed = append(removed, name)
		}
	}
	var text []string
	if renamed {
		text = append(text, "Renamed every descriptor with the prefix "+net.Prefix+".")
	}
	if chosen {
		text = append(text, "Chose other objects of each place and transition: "+string(net.level)+".")
	}
	if len(added) > 0 {
		text = append(text, "Added "+list(added)+".")
	}
	if len(removed) > 0 {
		text = append(text, "Made obsolete "+list(removed)+".")
	}
	if len(text) == 0 {
		return "Changed objects or descriptions."
	}
	return strings.Join(text, " ")
}

// members goes through places and transitions by number, each with its name
// in a sentence.
func (n *LockedNet) members() iter.Seq2[string, *Locked] {
	return func(yield func(string, *Locked) bool) {
		for _, kind := range []string{kindPlace, kindTransition} {
			for _, e := range n.of(kind).sorted() {
				if !yield(kind+" "+named("", e.ID), e) {
					return
				}
			}
		}
	}
}

// list joins names, and counts those beyond a few.
func list(names []string) string {
	const few = 5
	if len(names) > few {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:few-1], ", "), len(names)-few+1)
	}
	return strings.Join(names, ", ")
}
