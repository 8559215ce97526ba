// SPDX-License-Identifier: Apache-2.0

package suites

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/explore"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/petri/query"
)

var property = regexp.MustCompile(`(?s)<property>.*?</property>`)

// contest has the answers that the tests of TAPAAL's engine state for a net of the
// Model Checking Contest, by file and in the order of its properties.
var contest = map[string]string{
	"boost_tests/models/Angiogenesis-PT-01/ReachabilityCardinality.xml": "TTTFFFFTFTFFTFFF",
	"boost_tests/models/Angiogenesis-PT-01/ReachabilityFireability.xml": "FFTFFTTTTFTFTFTF",
}

// The tests of TAPAAL's engine state the answers for a net of the contest. A slow
// program answers the properties of its other nets: the answers in their ids are
// those of nets with time.
func TestQueries(t *testing.T) {
	dir := suitesDir(t)
	files, err := filepath.Glob(filepath.Join(dir, "verifypn", "test_models", "*", "query.xml"))
	if err != nil || len(files) == 0 {
		t.Skip("no checkout of verifypn: ", err)
	}
	rs := results{}
	for _, path := range files {
		properties(t, rs, "verifypn test_models", path, func(tables *petri.Tables, _ int, p []byte) (holds, known bool) {
			if tables == nil {
				return false, false
			}
			return slowNet{tables.Net}.answer(p)
		})
	}
	for path, answers := range contest {
		properties(t, rs, "verifypn Angiogenesis-PT-01", filepath.Join(dir, "verifypn", path), func(_ *petri.Tables, i int, _ []byte) (bool, bool) {
			return answers[i] == 'T', true
		})
	}
	rs.print(os.Stdout, "properties", dir)
}

// properties compares the answers to the properties of a file with those of an
// oracle. One that the oracle does not know counts only if it is refused.
func properties(t *testing.T, rs results, suite, path string, oracle func(tables *petri.Tables, i int, property []byte) (holds, known bool)) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tables, refused := readNet(filepath.Join(filepath.Dir(path), "model.pnml"))
	for i, p := range property.FindAll(text, -1) {
		want, known := oracle(tables, i, p)
		err := refused
		if err == nil {
			err = check(tables, p, want)
		}
		if !known && !errors.Is(err, errRefused) {
			continue
		}
		rs.count(suite, err)
		if err != nil && !errors.Is(err, errRefused) {
			t.Errorf("%s, property %d: %s", path, i, err)
		}
	}
}

// readNet reads the net of a PNML file.
func readNet(path string) (*petri.Tables, error) {
	r, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	f, err := pnml.Read(r, filepath.Base(path), pnml.DefaultLimits())
	if err == nil && len(f.Nets) == 1 {
		return petri.Compile(f.Nets[0])
	}
	return nil, fmt.Errorf("%w: %w", errRefused, err)
}

// check answers one property and compares the answer.
func check(tables *petri.Tables, property []byte, want bool) error {
	file := `<property-set xmlns="http://mcc.lip6.fr/">` + string(property) + `</property-set>`
	found, err := query.Read(strings.NewReader(file), "query.xml", tables, query.Limits{})
	if err != nil {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	answers, _ := query.Answer(tables, found, explore.Options{Markings: 200_000})
	switch got := answers[0]; {
	case !got.Known:
		return fmt.Errorf("%w: not decided by 200,000 markings", errRefused)
	case got.Holds != want:
		return fmt.Errorf("answer %t, want %t", got.Holds, want)
	}
	return nil
}
