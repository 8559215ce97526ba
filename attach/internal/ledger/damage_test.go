// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/internal/framed"
)

// Whatever bit of a state is wrong, it is not taken for another state: a wrong digit would
// count work that was not done.
//
//promise:damage damage
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
