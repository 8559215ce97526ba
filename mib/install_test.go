// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

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
		"one that exists goes first":    {[]string{absent, there}, there},
		"without one the first is made": {[]string{absent, filepath.Join(top, "c")}, absent},
		"one that exists alone":         {[]string{there}, there},
	} {
		p, err := PlanInstall(c.dirs, made, none)
		if err != nil || p.Dir != c.want || len(p.Files) != 2 {
			t.Fatalf("%s: got %+v, error %v; want two modules in %q", name, p, err, c.want)
		}
		dir := p.Dir
		if _, err := os.Stat(filepath.Join(dir, Record)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: a plan has written, %v", name, err)
		}
		if err := p.Write(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "PETRINET-MIB.mib"))
		if want, wantErr := PetrinetMIB(testRoot(t)); err != nil || wantErr != nil || string(text) != string(want) {
			t.Errorf("%s: the module differs, %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(dir, LockFile)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the lock is installed too", name)
		}
		if removed, kept, err := Uninstall(c.dirs); err != nil || len(removed) != 2 || len(kept) != 0 || len(globbed(t, dir)) != 0 {
			t.Errorf("%s: removed %q, kept %q, %v", name, removed, kept, err)
		}
		if err := os.RemoveAll(filepath.Join(top, "a")); err != nil {
			t.Fatal(err)
		}
	}
}

// none has no base modules.
var none = fstest.MapFS{}

func globbed(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// A record that no pnagent wrote removes nothing, least of all outside of its directory.
func TestADamagedRecordIsNotFollowed(t *testing.T) {
	for _, line := range []string{"", "nonsense", strings.Repeat("0", 64) + "  ../passwd", strings.Repeat("0", 64) + " passwd"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, Record), []byte(line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if removed, _, err := Uninstall([]string{dir}); err == nil || !strings.Contains(err.Error(), Record+":1: ") || removed != nil {
			t.Errorf("%q: removed %q, %v", line, removed, err)
		}
	}
}

func TestInstallingWithoutADirectoryFails(t *testing.T) {
	if _, err := PlanInstall(nil, nil, none); !errors.Is(err, ErrNoInstallDir) {
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
	if _, err := PlanInstall([]string{filepath.Join(file, "mibs")}, made, none); !errors.Is(err, ErrNoInstallDir) || !errors.As(err, &why) {
		t.Errorf("below a file: %v; want ErrNoInstallDir, and why", err)
	}
	t.Run("without permission", func(t *testing.T) {
		if os.Geteuid() == 0 {
			t.Skip("root may write everywhere")
		}
		if _, err := PlanInstall([]string{sealed}, made, none); !errors.Is(err, ErrNoInstallDir) || !errors.Is(err, os.ErrPermission) {
			t.Errorf("%v; want ErrNoInstallDir, and why", err)
		}
	})
}
