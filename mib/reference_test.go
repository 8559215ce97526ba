// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sleepinggenius2/gosmi/types"
)

// What people read has every object and notification of the module, and its
// numbers are those that the module gives.
func TestTheReferenceIsTheModule(t *testing.T) {
	root, err := ParseRoot(DefaultRoot)
	if err != nil {
		t.Fatal(err)
	}
	nodes := parsed(t, filepath.Join("..", "mibs"), PetrinetModule)
	sections, events := Reference()
	all := events
	for _, s := range sections {
		if s.Text == "" && len(s.Index) > 0 || len(s.Objects) == 0 {
			t.Errorf("section %s says nothing", s.Name)
		}
		all = append(all, s.Objects...)
	}
	var names, want []string
	for _, d := range all {
		names = append(names, d.Name)
		n, ok := nodes[PetrinetModule+"::"+d.Name]
		if !ok || n.RenderNumeric() != root.Append(d.OID...).String() {
			t.Errorf("%s is %v, and in the module %s", d.Name, d.OID, n.RenderNumeric())
		}
		if d.Text == "" {
			t.Errorf("%s has no description", d.Name)
		}
	}
	for _, n := range nodes {
		if n.Kind == types.NodeScalar || n.Kind == types.NodeColumn || n.Kind == types.NodeNotification {
			want = append(want, n.Name)
		}
	}
	slices.Sort(want)
	slices.Sort(names)
	if d := cmp.Diff(want, names); d != "" {
		t.Errorf("the reference (+) does not have what the module (-) has:\n%s", d)
	}
}
