// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
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
	if err := writeState(path, &stateFile{Program: "p", Epoch: 123456, State: state}); err != nil {
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
	name := bytes.Index(text, []byte("crc32")) // a wrong name is that of a file without one
	for bit := range 8 * len(text) {
		if i := bit / 8; i >= name && i < name+len("crc32") {
			continue
		}
		damaged := bytes.Clone(text)
		damaged[bit/8] ^= 1 << (bit % 8)
		if epoch, got, err := read(damaged); err == nil && (epoch != 123456 || got.Jobs["bill"] != 40012 || got.Jobs["mail <a>"] != 17 || len(got.Jobs) != 2) {
			t.Fatalf("bit %d: epoch %d, %v", bit, epoch, got)
		}
	}
	earlier := []byte(`{"program":"p","epoch":7,"state":{"jobs":{"bill":1}}}`)
	if epoch, got, err := read(earlier); err != nil || epoch != 7 || got.Jobs["bill"] != 1 {
		t.Errorf("of an earlier version: epoch %d, %v, %v", epoch, got, err)
	}
}
