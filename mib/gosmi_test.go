// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"path/filepath"
	"testing"

	"github.com/sleepinggenius2/gosmi"
	"github.com/sleepinggenius2/gosmi/types"
)

// parsed is the modules of a directory as gosmi reads them. gosmi is global, so
// one test at a time reads modules.
func parsed(t *testing.T, dir string, modules ...string) map[string]gosmi.SmiNode {
	t.Helper()
	gosmi.Init()
	defer gosmi.Exit()
	gosmi.SetPath(stubs + string(filepath.ListSeparator) + dir)
	nodes := map[string]gosmi.SmiNode{}
	for _, name := range modules {
		loaded, err := gosmi.LoadModule(name)
		if err != nil {
			t.Fatal(err)
		}
		module, err := gosmi.GetModule(loaded)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range module.GetNodes(types.NodeAny) {
			nodes[name+"::"+n.Name] = n
		}
	}
	return nodes
}

// checkGosmi compares the OID of every name of a module. One module is read at a
// time: gosmi mixes up descriptors that two modules have.
func checkGosmi(t *testing.T, dir, module string, want map[string]string) {
	t.Helper()
	gosmiAgrees(t, parsed(t, dir, PetrinetModule, module), want)
}

func gosmiAgrees(t *testing.T, nodes map[string]gosmi.SmiNode, want map[string]string) {
	t.Helper()
	for name, oid := range want {
		n, ok := nodes[name]
		if !ok {
			t.Errorf("gosmi does not find %s", name)
		} else if got := n.RenderNumeric(); got != oid {
			t.Errorf("gosmi: %s is %s, want %s", name, got, oid)
		}
	}
}

func TestEveryToolAgreesWithTheLock(t *testing.T) { checkNets(t, orderNet()) }
