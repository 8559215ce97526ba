// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/internal/framed"
)

// Whatever bit of a state is wrong, it is not taken for another state: a wrong digit would
// count work that was not done.
func TestAFlippedBitOfAStateIsFound(t *testing.T) {
	type counted struct {
		Jobs map[string]int `json:"jobs"`
	}
	path := filepath.Join(t.TempDir(), "a.state")
	want := counted{map[string]int{"mail <a>": 17, "bill": 40012}}
	state, err := json.MarshalIndent(want, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := (&stateWriter{path: path}).write(&stateFile{Program: "p", Epoch: 123456, State: state}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	read := func(text []byte) (epoch int64, got counted, err error) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		epoch, err = readState(path, "p", &got)
		return epoch, got, err
	}
	if epoch, got, err := read(text); err != nil || epoch != 123456 || got.Jobs["bill"] != 40012 {
		t.Fatalf("epoch %d, %v, %v", epoch, got, err)
	}
	for bit := range 8 * len(text) {
		damaged := bytes.Clone(text)
		damaged[bit/8] ^= 1 << (bit % 8)
		epoch, got, err := read(damaged)
		var damage *framed.DamagedError
		var version *framed.VersionError
		if !errors.As(err, &damage) && !errors.As(err, &version) || !strings.Contains(err.Error(), path) {
			t.Fatalf("bit %d: epoch %d, %v, %v", bit, epoch, got, err)
		}
	}
}

// The file of testdata was written before files had frames.
func TestAFileOfAnEarlierVersionIsRead(t *testing.T) {
	text, err := os.ReadFile("testdata/unframed.state")
	if err != nil {
		t.Fatal(err)
	}
	parsed := func(text []byte) string {
		f, err := parseState(text)
		return fmt.Sprintf("%s %d %s %v", f.Program, f.Epoch, f.State, err)
	}
	if got, want := parsed(text), `p 123456 {"jobs":{"bill":40012,"mail \u003ca\u003e":17}} <nil>`; got != want {
		t.Errorf("got %s; want %s", got, want)
	}
	if got, want := parsed([]byte(`{"program":"p","epoch":7,"state":{}}`)), "p 7 {} <nil>"; got != want {
		t.Errorf("without a checksum: got %s; want %s", got, want)
	}
	name := bytes.Index(text, []byte("crc32")) // a wrong name is that of a file without one
	for bit := range 8 * len(text) {
		if i := bit / 8; i >= name && i < name+len("crc32") {
			continue
		}
		damaged := bytes.Clone(text)
		damaged[bit/8] ^= 1 << (bit % 8)
		if f, err := parseState(damaged); err == nil && f.sum() != "1b19bb4a" {
			t.Fatalf("bit %d: %+v", bit, f)
		}
	}
}
