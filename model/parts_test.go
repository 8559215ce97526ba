// SPDX-License-Identifier: Apache-2.0

//go:build peers

package model_test

import (
	"bytes"
	"regexp"
	"testing"
)

// holds checks that nothing is violated in configurations of a model.
func holds(t *testing.T, model string, configs ...string) {
	for _, config := range configs {
		t.Run(config, func(t *testing.T) {
			files := read(t, model+".tla", config+".cfg")
			files[model+".cfg"] = files[config+".cfg"]
			if violated, printed := check(t, model, files); violated != "" {
				t.Errorf("%s is violated:\n%s", violated, printed)
			}
		})
	}
}

// mutant is a change of a configuration that TLC must notice.
type mutant struct {
	name, config string
	from, to     string
	want         string // the invariant that is violated, or the property
}

// finds checks that TLC finds the mutants of a model.
func finds(t *testing.T, model string, mutants ...mutant) {
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			files := read(t, model+".tla", m.config+".cfg")
			text := files[m.config+".cfg"]
			if !bytes.Contains(text, []byte(m.from)) {
				t.Fatalf("%s.cfg has no %q", m.config, m.from)
			}
			text = bytes.ReplaceAll(text, []byte(m.from), []byte(m.to))
			if !bytes.Contains(text, []byte("PROPERTY "+m.want)) {
				text = regexp.MustCompile("(?m)^INVARIANTS .*").ReplaceAll(text, []byte("INVARIANT "+m.want))
			}
			files[model+".cfg"] = text
			violated, printed := check(t, model, files)
			if violated != m.want && (violated != "properties" || bytes.Contains(text, []byte("INVARIANT "+m.want))) {
				t.Errorf("violated is %q; want %q:\n%s", violated, m.want, printed)
			}
		})
	}
}

//promise:owner none kill lostlog pause
//promise:notempty lostlog none
func TestTheModelOfPartsHolds(t *testing.T) {
	holds(t, "Parts", "parts-fence", "parts-removed", "parts-lost", "parts-crossing", "parts-arrives")
}

// Without the mend of an old fault the model finds that fault again.
func TestTheModelOfPartsFindsFaults(t *testing.T) {
	finds(t, "Parts",
		mutant{"the commits of a pipeline are no batch", "parts-fence", "Batch = TRUE", "Batch = FALSE", "OneOwnerWrites"},
		mutant{"a cursor is a bare number", "parts-crossing", "Identity = TRUE", "Identity = FALSE", "NotDoubled"},
		mutant{"a log that was removed starts empty", "parts-removed", "Remember = TRUE", "Remember = FALSE", "NoEmptyStart"},
		mutant{"an owner goes on blindly over another connection", "parts-lost", "Compare = TRUE", "Compare = FALSE", "OneOwnerWrites"},
		mutant{"no process takes a part over", "parts-arrives", "MaxEpoch = 2", "MaxEpoch = 1", "Arrives"})
}
