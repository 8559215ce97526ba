// SPDX-License-Identifier: Apache-2.0

package dmn

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/engine/guard/feel"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/dmn"
)

// kitNode is an input or a result of a case of the kit, or a part of one.
type kitNode struct {
	Name       string     `xml:"name,attr"`
	Nil        string     `xml:"nil,attr"`
	Values     []kitText  `xml:"value"`
	Components []*kitNode `xml:"component"`
	List       *struct {
		Nil   string     `xml:"nil,attr"`
		Items []*kitNode `xml:"item"`
	} `xml:"list"`
	Expected *kitNode `xml:"expected"`
}

type kitText struct {
	Type string `xml:"type,attr"`
	Nil  string `xml:"nil,attr"`
	Text string `xml:",chardata"`
}

// value returns the value as decoded JSON.
func (n *kitNode) value() any {
	switch {
	case n.List != nil && n.List.Nil != "true":
		out := []any{}
		for _, i := range n.List.Items {
			out = append(out, i.value())
		}
		return out
	case len(n.Components) > 0:
		out := map[string]any{}
		for _, c := range n.Components {
			out[c.Name] = c.value()
		}
		return out
	case len(n.Values) == 0 || n.Values[0].Nil == "true":
		return nil
	}
	v := n.Values[0]
	switch _, t, _ := strings.Cut(v.Type, ":"); t {
	case "boolean":
		return v.Text == "true"
	case "decimal", "double", "integer":
		return json.Number(strings.TrimSpace(v.Text))
	}
	return v.Text
}

// dated reports whether the value is a date or a time.
func (n *kitNode) dated() bool {
	return len(n.Values) > 0 && strings.Contains(strings.ToLower(n.Values[0].Type), ":date")
}

// near compares values; numbers may differ after eight digits.
func near(a, b any) bool {
	switch x := a.(type) {
	case json.Number:
		y, ok := b.(json.Number)
		f, _ := x.Float64()
		if !ok {
			return false
		}
		g, _ := y.Float64()
		return math.Abs(f-g) <= 1e-8*math.Abs(g)
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !near(x[i], y[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k := range x {
			if !near(x[k], y[k]) {
				return false
			}
		}
		return true
	}
	return a == b
}

// What the DMN Technology Compatibility Kit expects of files with decision tables. A result is right, refused
// or wrong; none may be wrong.
func TestCompatibilityKit(t *testing.T) {
	dir := os.Getenv("PNAGENT_DMN_TCK")
	if dir == "" {
		t.Skip("PNAGENT_DMN_TCK is not the directory TestCases of the DMN Technology Compatibility Kit")
	}
	var right, refused, wrong int
	for _, level := range []string{"compliance-level-2", "compliance-level-3"} {
		files, err := filepath.Glob(filepath.Join(dir, level, "*", "*.dmn"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no files in %s: %v", dir, err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(content, []byte("decisionTable")) && !bytes.Contains(content, []byte("contextEntry")) {
				continue
			}
			a, b, c := kitFile(t, file, content)
			right, refused, wrong = right+a, refused+b, wrong+c
		}
	}
	t.Logf("right %d, refused %d, wrong %d", right, refused, wrong)
}

func kitFile(t *testing.T, file string, content []byte) (right, refused, wrong int) {
	name, tables := filepath.Base(file), bytes.Contains(content, []byte("decisionTable"))
	all, err := dmn.Read(bytes.NewReader(content), name, dmn.DefaultLimits())
	if err != nil {
		t.Logf("%s: %v", name, err)
		return 0, 1, 0
	}
	tests, _ := filepath.Glob(filepath.Join(filepath.Dir(file), "*test*.xml"))
	for _, path := range tests {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var kit struct {
			Model string `xml:"modelName"`
			Cases []struct {
				ID      string     `xml:"id,attr"`
				Inputs  []*kitNode `xml:"inputNode"`
				Results []*kitNode `xml:"resultNode"`
			} `xml:"testCase"`
		}
		if err := xml.Unmarshal(text, &kit); err != nil {
			t.Fatal(path, err)
		}
		if strings.TrimSpace(kit.Model) != name {
			continue
		}
		for _, c := range kit.Cases {
			vars := map[string]any{}
			for _, in := range c.Inputs {
				vars[in.Name] = in.value()
			}
			for _, want := range c.Results {
				id, of := "", &petri.Decision{}
				for _, d := range all {
					if d.Name == want.Name {
						id, of = d.ID, d
					}
				}
				if !tables && of.Entries == nil || slices.ContainsFunc(c.Inputs, func(in *kitNode) bool { return in.dated() && of.Types[in.Name] == "Any" }) {
					continue // package feel tries expressions; a variable of a process is a date only by its type
				}
				d, err := Compile(all, id)
				var got any
				var r *Result
				if err == nil {
					if r, err = d.Eval(now, func(name string) (any, bool) { v, ok := vars[name]; return v, ok }); err == nil {
						got = feel.Export(r.Value())
					}
				}
				expected := want.Expected.value()
				switch {
				case err != nil && expected == nil && d != nil, err == nil && near(got, expected):
					right++
				case err != nil:
					refused++
					t.Logf("%s %s %s: refused: %v", name, c.ID, want.Name, err)
				default:
					wrong++
					t.Errorf("%s %s %s: got %v, want %v", name, c.ID, want.Name, got, expected)
				}
			}
		}
	}
	return right, refused, wrong
}
