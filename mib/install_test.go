// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestInstallDirsAreThoseOfNetSNMP(t *testing.T) {
	builtin := []string{"/home/ada/.snmp/mibs", "/usr/local/share/snmp/mibs", "/usr/share/snmp/mibs"}
	for name, c := range map[string]struct {
		home, mibdirs string
		want          []string
	}{
		"a user":              {"/home/ada", "", builtin},
		"a service":           {"", "", builtin[1:]},
		"MIBDIRS":             {"/home/ada", "/a:/b", []string{"/a", "/b"}},
		"MIBDIRS before them": {"/home/ada", "+/a:/b", append([]string{"/a", "/b"}, builtin...)},
		"MIBDIRS after them":  {"/home/ada", "-/a", append(append([]string{}, builtin...), "/a")},
		"an empty one":        {"/home/ada", ":/a::", []string{"/a"}},
	} {
		env := map[string]string{"HOME": c.home, "MIBDIRS": c.mibdirs}
		if diff := cmp.Diff(c.want, InstallDirs(func(key string) string { return env[key] })); diff != "" {
			t.Errorf("%s: directories (-want +got): %s", name, diff)
		}
	}
}

func TestModulesAreInstalledWhereTheyAreFound(t *testing.T) {
	made, err := Generate(t.TempDir(), filepath.Join(t.TempDir(), LockFile), testRoot(t), nil, Options{}, testNow())
	if err != nil {
		t.Fatal(err)
	}
	top := t.TempDir()
	there, absent := filepath.Join(top, "there"), filepath.Join(top, "a", "b")
	if err := os.Mkdir(there, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		dirs []string
		want string
	}{
		"one that exists goes first":         {[]string{absent, there}, there},
		"without one the first is made":      {[]string{absent, filepath.Join(top, "c")}, absent},
		"again, nothing is written that was": {[]string{there}, there},
	} {
		dir, installed, err := Install(c.dirs, made)
		if err != nil || dir != c.want || len(installed) != 2 {
			t.Errorf("%s: got %q, %v, error %v; want two modules in %q", name, dir, installed, err, c.want)
		}
		text, err := os.ReadFile(filepath.Join(dir, "PETRINET-MIB.mib"))
		if want, wantErr := PetrinetMIB(testRoot(t)); err != nil || wantErr != nil || string(text) != string(want) {
			t.Errorf("%s: the module differs, %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(dir, LockFile)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the lock is installed too", name)
		}
		if err := os.RemoveAll(filepath.Join(top, "a")); err != nil {
			t.Fatal(err)
		}
	}
}

func TestInstallingWithoutADirectoryFails(t *testing.T) {
	if _, _, err := Install(nil, nil); !errors.Is(err, ErrNoInstallDir) {
		t.Error(err)
	}
	top := t.TempDir()
	sealed, file := filepath.Join(top, "sealed"), filepath.Join(top, "file")
	if err := errors.Join(os.Mkdir(sealed, 0o500), os.WriteFile(file, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	made, err := Generate(t.TempDir(), filepath.Join(t.TempDir(), LockFile), testRoot(t), nil, Options{}, testNow())
	if err != nil {
		t.Fatal(err)
	}
	var why *fs.PathError
	if _, _, err := Install([]string{filepath.Join(file, "mibs")}, made); !errors.Is(err, ErrNoInstallDir) || !errors.As(err, &why) {
		t.Errorf("below a file: %v; want ErrNoInstallDir, and why", err)
	}
	t.Run("without permission", func(t *testing.T) {
		if os.Geteuid() == 0 {
			t.Skip("root may write everywhere")
		}
		if _, _, err := Install([]string{sealed}, made); !errors.Is(err, ErrNoInstallDir) || !errors.Is(err, os.ErrPermission) {
			t.Errorf("%v; want ErrNoInstallDir, and why", err)
		}
	})
}
