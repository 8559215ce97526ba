// SPDX-License-Identifier: Apache-2.0

package zones

import (
	"archive/zip"
	"io"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// Another Go distribution can have newer rules of some zones: go generate ./internal/zones packs them.
func TestZonesAreThoseOfGo(t *testing.T) {
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip(err)
	}
	file, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		t.Skip(err)
	}
	defer func() { _ = file.Close() }()
	n, others := 0, 0
	for _, f := range file.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		n++
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := time.LoadLocationFromTZData(f.Name, data)
		if err != nil {
			t.Fatal(err)
		}
		ours, err := Load(f.Name)
		if err != nil {
			t.Error(err)
		} else if !reflect.DeepEqual(ours, theirs) {
			others++
		}
	}
	if n < 500 || others > n/10 {
		t.Errorf("%d of %d zones are others", others, n)
	}
}

func TestAZoneHasItsRules(t *testing.T) {
	for name, want := range map[string]string{"Europe/Berlin": "2026-07-01T14:00:00+02:00", "America/New_York": "2026-07-01T08:00:00-04:00", "UTC": "2026-07-01T12:00:00Z", "Asia/Kolkata": "2026-07-01T17:30:00+05:30"} {
		in, err := Load(name)
		if err != nil || in.String() != name {
			t.Fatalf("%s: %v, %v", name, in, err)
		}
		if got := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC).In(in).Format(time.RFC3339); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for _, name := range []string{"", "Local", "Europe", "Europe/Nowhere", "../Europe/Berlin"} {
		if in, err := Load(name); err == nil {
			t.Errorf("%q: %v", name, in)
		}
	}
}
