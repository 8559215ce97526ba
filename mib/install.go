// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/pnagent/pnagent/internal/atomicfile"
)

// ErrNoInstallDir is wrapped by the error of PlanInstall if no directory is usable.
var ErrNoInstallDir = errors.New("no directory to install modules into")

// InstallDirs returns the directories in which net-snmp's tools look for modules, in their
// order: those of the environment variable MIBDIRS and, without it or if it begins with +
// or -, those that net-snmp is built with (snmpcmd(1), MIBDIRS). It ignores a mibdirs line in
// snmp.conf. getenv is like os.Getenv.
func InstallDirs(getenv func(string) string) []string {
	builtin := []string{"/usr/local/share/snmp/mibs", "/usr/share/snmp/mibs"}
	if home := getenv("HOME"); home != "" {
		builtin = append([]string{filepath.Join(home, ".snmp", "mibs")}, builtin...)
	}
	set := getenv("MIBDIRS")
	if set == "" {
		return builtin
	}
	own := filepath.SplitList(strings.TrimLeft(set, "+-"))
	own = slices.DeleteFunc(own, func(dir string) bool { return dir == "" })
	switch set[0] {
	case '+':
		return append(own, builtin...)
	case '-':
		return append(builtin, own...)
	}
	return own
}

// Record is the file in a directory of modules that lists what was installed there, in the format
// of sha256sum. net-snmp's tools do not read files whose names begin with a dot.
const Record = ".pnagent-installed"

// Installed is a file of an Installation.
type Installed struct {
	Path   string
	Module string
	Exists bool // another file has this path, or the same one
	Same   bool // it has this text already
	Stub   bool // it is one of the base modules
	text   []byte
}

// Installation is a set of files that are not written yet.
type Installation struct {
	Dir   string
	Files []Installed
}

// PlanInstall returns how the modules that Generate wrote would be copied into the first of dirs
// that exists and is writable; if there is none, into the first that can be created. It adds those
// base modules, the files of the root of base, that are in none of dirs, nor in the directories of
// Debian's downloader below them. It leaves out the lock.
func PlanInstall(dirs []string, made []Written, base fs.FS) (*Installation, error) {
	dir, err := installDir(dirs)
	if err != nil {
		return nil, err
	}
	p := &Installation{Dir: dir}
	for _, w := range made {
		if w.Module == "" {
			continue
		}
		text, err := os.ReadFile(w.Path)
		if err != nil {
			return nil, fmt.Errorf("install module %s: %w", w.Module, err)
		}
		p.add(w.Module, w.Module+".mib", text, false)
	}
	entries, err := fs.ReadDir(base, ".")
	if err != nil {
		return nil, fmt.Errorf("install the base modules: %w", err)
	}
	recorded, err := readRecord(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if _, ours := recorded[e.Name()]; !ours && there(e.Name(), dirs) {
			continue
		}
		text, err := fs.ReadFile(base, e.Name())
		if err != nil {
			return nil, fmt.Errorf("install module %s: %w", e.Name(), err)
		}
		p.add(e.Name(), e.Name(), text, true)
	}
	return p, nil
}

func (p *Installation) add(module, name string, text []byte, stub bool) {
	path := filepath.Join(p.Dir, name)
	old, err := os.ReadFile(path)
	p.Files = append(p.Files, Installed{Path: path, Module: module, Exists: err == nil, Same: err == nil && bytes.Equal(old, text), Stub: stub, text: text})
}

// Write writes the files that differ, and records them for Uninstall. The record is written
// first, so that it lists each file that was written.
func (p *Installation) Write() error {
	recorded, err := readRecord(p.Dir)
	if err != nil {
		return err
	}
	for _, f := range p.Files {
		if !f.Same {
			recorded[filepath.Base(f.Path)] = hash(f.text)
		}
	}
	if err := writeRecord(p.Dir, recorded); err != nil {
		return err
	}
	for _, f := range p.Files {
		if _, err := atomicfile.Update(f.Path, f.text, 0o644); err != nil {
			return fmt.Errorf("install module %s: %w", f.Module, err)
		}
	}
	return nil
}

// Uninstall removes from dirs the files that Installation.Write recorded there, and the records.
// It keeps files that have changed since, and returns them.
func Uninstall(dirs []string) (removed, kept []string, err error) {
	for _, dir := range dirs {
		recorded, err := readRecord(dir)
		if err != nil {
			return removed, kept, err
		}
		for _, name := range slices.Sorted(maps.Keys(recorded)) {
			path := filepath.Join(dir, name)
			text, err := os.ReadFile(path)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				continue
			case err != nil:
				return removed, kept, fmt.Errorf("uninstall: %w", err)
			case hash(text) != recorded[name]:
				kept = append(kept, path)
				continue
			}
			if err := os.Remove(path); err != nil {
				return removed, kept, fmt.Errorf("uninstall: %w", err)
			}
			removed = append(removed, path)
		}
		if err := os.Remove(filepath.Join(dir, Record)); err != nil && !missingDir(err) {
			return removed, kept, fmt.Errorf("uninstall: %w", err)
		}
	}
	return removed, kept, nil
}

func hash(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }

// missingDir reports whether an error of a file is that it, or its directory, does not exist.
func missingDir(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// readRecord returns the hashes of what was installed in a directory, by name.
func readRecord(dir string) (map[string]string, error) {
	path := filepath.Join(dir, Record)
	text, err := os.ReadFile(path)
	if err != nil && !missingDir(err) {
		return nil, fmt.Errorf("read what was installed: %w", err)
	}
	recorded := map[string]string{}
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		sum, name, ok := strings.Cut(line, "  ")
		if line == "" && len(text) == 0 {
			break
		}
		if !ok || filepath.Base(name) != name || len(sum) != hex.EncodedLen(sha256.Size) {
			return nil, fmt.Errorf("%s:%d: %q; expected a SHA-256 sum, two spaces and the name of a file", path, i+1, line)
		}
		recorded[name] = sum
	}
	return recorded, nil
}

func writeRecord(dir string, recorded map[string]string) error {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(recorded)) {
		fmt.Fprintf(&b, "%s  %s\n", recorded[name], name)
	}
	if _, err := atomicfile.Update(filepath.Join(dir, Record), []byte(b.String()), 0o644); err != nil {
		return fmt.Errorf("record what is installed: %w", err)
	}
	return nil
}

// installDir returns the first of dirs that exists and is writable, or else the first that can be
// created. It tries by a file that it removes at once.
func installDir(dirs []string) (string, error) {
	faults := []error{ErrNoInstallDir}
	for _, dir := range slices.Concat(slices.DeleteFunc(slices.Clone(dirs), missing), dirs) {
		f, err := os.CreateTemp(existing(dir), ".pnagent-*")
		if err != nil {
			faults = append(faults, err)
			continue
		}
		return dir, errors.Join(f.Close(), os.Remove(f.Name()))
	}
	return "", errors.Join(faults...)
}

// existing returns dir, or the nearest directory above it that exists.
func existing(dir string) string {
	for {
		_, err := os.Stat(dir)
		if !errors.Is(err, fs.ErrNotExist) || filepath.Dir(dir) == dir {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// there reports whether a module is in one of dirs, by the name of its file.
func there(module string, dirs []string) bool {
	for _, dir := range dirs {
		for _, below := range []string{"", "ietf"} {
			if found, _ := filepath.Glob(filepath.Join(dir, below, module+"*")); len(found) > 0 { // only a pattern can be at fault
				return true
			}
		}
	}
	return false
}

func missing(dir string) bool {
	i, err := os.Stat(dir)
	return err != nil || !i.IsDir()
}
