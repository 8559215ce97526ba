// SPDX-License-Identifier: Apache-2.0

package fullprogram

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// put makes a file that can be run, if mode says so.
func put(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, mode); err != nil {
		t.Fatal(err)
	}
}

func TestTheProgramIsBesideTheExecutableOrInLibexecOrInThePath(t *testing.T) {
	root := t.TempDir()
	bin, beside := filepath.Join(root, "bin"), filepath.Join(root, "bin", Name)
	libexec, other := filepath.Join(root, "libexec", "pnagent", Name), filepath.Join(root, "other", Name)
	t.Setenv("PATH", filepath.Dir(other))
	put(t, other, 0o700)
	put(t, libexec, 0o700)
	put(t, beside, 0o700)
	for _, want := range []string{beside, libexec, other} {
		if got, err := find(bin); got != want || err != nil {
			t.Errorf("found %s, %v; want %s", got, err, want)
		}
		if err := os.Remove(want); err != nil {
			t.Fatal(err)
		}
	}
	put(t, beside, 0o600)
	_, err := find(bin)
	if want := Name + " is not in " + bin + ", " + filepath.Dir(libexec) + " or PATH"; err == nil || err.Error() != want {
		t.Errorf("a file that cannot be run is there: %v; want %s", err, want)
	}
}

func TestOnlyAPnagentOfTheSameVersionIsServed(t *testing.T) {
	for version, refused := range map[string]bool{"v1": false, "v2": true, "": true} {
		t.Setenv(caller, version)
		err := Check("v1")
		if (err != nil) != refused || refused && !strings.Contains(err.Error(), "of version v1, and was run by pnagent "+version) {
			t.Errorf("run by %q: %v", version, err)
		}
		if _, is := os.LookupEnv(caller); is {
			t.Errorf("run by %q: programs that this one starts have the variable too", version)
		}
	}
	if err := Check("v1"); err != nil {
		t.Errorf("run by a user: %v", err)
	}
}

// A program that was built without the commands is not run again and again.
func TestASmallProgramInPlaceOfTheFullOneIsAnError(t *testing.T) {
	t.Setenv(caller, "v1")
	if err := Exec("pnagent demo", "v1", nil); err == nil || !strings.Contains(err.Error(), "was run for pnagent demo") {
		t.Errorf("%v; want an error about how it was built", err)
	}
}
