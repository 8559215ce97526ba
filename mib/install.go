// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pnagent/pnagent/internal/atomicfile"
)

// ErrNoInstallDir is wrapped by the error of Install if no directory is usable.
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

// Install copies the modules that Generate wrote into the first of dirs that exists and is
// writable; if there is none, it creates the first that it can. It does not copy the lock. It
// returns the directory and the files.
func Install(dirs []string, made []Written) (dir string, installed []Written, err error) {
	faults := []error{ErrNoInstallDir}
	for _, dir := range slices.Concat(slices.DeleteFunc(slices.Clone(dirs), missing), dirs) {
		if installed, err = installTo(dir, made); err == nil {
			return dir, installed, nil
		}
		faults = append(faults, err)
	}
	return "", nil, errors.Join(faults...)
}

// InstallBase copies those of the base modules, which are the files of a directory of fsys,
// into dir that are in none of dirs, nor in the directories of Debian's downloader below them.
// It returns the files that it wrote.
func InstallBase(fsys fs.FS, base, dir string, dirs []string) ([]Written, error) {
	entries, err := fs.ReadDir(fsys, base)
	if err != nil {
		return nil, fmt.Errorf("install the base modules: %w", err)
	}
	var installed []Written
	for _, e := range entries {
		if there(e.Name(), dirs) {
			continue
		}
		text, err := fs.ReadFile(fsys, path.Join(base, e.Name()))
		if err != nil {
			return installed, fmt.Errorf("install module %s: %w", e.Name(), err)
		}
		to := filepath.Join(dir, e.Name())
		changed, err := atomicfile.Update(to, text, 0o644)
		if err != nil {
			return installed, fmt.Errorf("install module %s: %w", e.Name(), err)
		}
		installed = append(installed, Written{Path: to, Module: e.Name(), Changed: changed})
	}
	return installed, nil
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

func installTo(dir string, made []Written) ([]Written, error) {
	var files []moduleFile
	for _, w := range made {
		if w.Module == "" {
			continue
		}
		text, err := os.ReadFile(w.Path)
		if err != nil {
			return nil, fmt.Errorf("install module %s: %w", w.Module, err)
		}
		files = append(files, moduleFile{name: w.Module, text: text})
	}
	return writeModules(dir, files, nil)
}
