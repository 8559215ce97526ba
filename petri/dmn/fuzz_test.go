// SPDX-License-Identifier: Apache-2.0

package dmn

import (
	"strings"
	"testing"
)

// FuzzRead passes any file: it is read as decisions whose rules fit their tables, or refused with its name.
func FuzzRead(f *testing.F) {
	f.Add(`<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/"><itemDefinition name="t"><typeRef>t</typeRef></itemDefinition><inputData id="i" name="x"><variable typeRef="t"/></inputData>
<decision id="d"><informationRequirement><requiredInput href="#i"/></informationRequirement><decisionTable hitPolicy="COLLECT" aggregation="SUM"><input><inputExpression><text>x</text></inputExpression></input><output/>
<rule><inputEntry><text>-</text></inputEntry><outputEntry><text>1</text></outputEntry></rule></decisionTable></decision></definitions>`)
	f.Fuzz(func(t *testing.T, text string) {
		all, err := Read(strings.NewReader(text), "d.dmn", DefaultLimits())
		if (err == nil) != (len(all) > 0) || err != nil && !strings.Contains(err.Error(), "d.dmn") {
			t.Fatalf("%d decisions, %v", len(all), err)
		}
		for _, d := range all {
			if d.Table == nil {
				continue
			}
			for _, r := range d.Table.Rules {
				if len(r.Tests) != len(d.Table.Inputs) || len(r.Values) != len(d.Table.Outputs) {
					t.Fatalf("%+v", r)
				}
			}
		}
	})
}
