// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
		files = append(files, moduleFile{w.Module, text})
	}
	return writeModules(dir, files, nil)
}
