// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// corpus is the folder of files from real tools, beside the project.
const corpus = "../../../shared/corpus/bpmn"

// corpusFiles returns the files of the corpus, or none if it is absent.
func corpusFiles(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(corpus, "*.bpmn"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// size is the size of a net.
type size struct{ Places, Transitions, Arcs, Nodes, Flows int }

func TestCorpus(t *testing.T) {
	files := corpusFiles(t)
	if len(files) == 0 {
		t.Skipf("the corpus of example files is not at %s", corpus)
	}
	expected := corpusTable()
	for _, path := range files {
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			want, listed := expected[name]
			if !listed {
				t.Fatal("the table has no outcome for this file")
			}
			r, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			f, err := Read(r, name, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			got := outcome{warnings: len(f.Warnings)}
			for i, n := range f.Nets {
				got.nets = append(got.nets, size{len(n.Places), len(n.Transitions), len(n.Arcs), len(f.Graphs[i].Nodes), len(f.Graphs[i].Edges)})
				samePNML(t, n)
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(outcome{})); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
	if len(files) != len(expected) {
		t.Errorf("%d files, %d in the table", len(files), len(expected))
	}
}

// outcome is the sizes of a file's nets.
type outcome struct {
	nets     []size
	warnings int
}

// corpusTable returns the expected outcome of each file.
func corpusTable() map[string]outcome {
	return map[string]outcome{
		"camunda_BpmnParseTest.testInvalidAsyncAfterEventBasedGateway.bpmn":                                {nets: []size{{6, 5, 10, 6, 5}}},
		"camunda_ExclusiveGatewayTest.testBigLoop.bpmn":                                                    {nets: []size{{12, 12, 24, 6, 6}}},
		"camunda_InclusiveGatewayTest.testLoopingInclusiveGateways.bpmn":                                   {nets: []size{{13, 9, 24, 9, 11}}},
		"camunda_MessageEventSubprocessTest.testNestedNonInterruptingEventSubprocessListenersInvoked.bpmn": {nets: []size{{11, 10, 27, 3, 2}}},
		"camunda_ParallelGatewayTest.testCompletingJoinInSubProcess.bpmn":                                  {nets: []size{{10, 8, 24, 2, 1}}},
		"camunda_TerminateEndEventTest.testTerminateInSubProcessSequentialConcurrentMultiInstance.bpmn":    {nets: []size{{19, 17, 55, 6, 5}}},
		"miwg_A.1.0.bpmn": {nets: []size{{6, 5, 10, 5, 4}}},
		"miwg_A.2.0.bpmn": {nets: []size{{12, 13, 26, 8, 9}}},
		"miwg_A.2.1.bpmn": {nets: []size{{16, 17, 36, 8, 11}}, warnings: 4},
		"miwg_A.3.0.bpmn": {nets: []size{{14, 13, 30, 10, 10}}},
		"miwg_A.4.0.bpmn": {nets: []size{{5, 4, 8, 4, 3}, {17, 15, 37, 7, 6}}},
		"miwg_A.4.1.bpmn": {nets: []size{{5, 4, 8, 4, 3}, {17, 15, 37, 7, 6}}},
		"miwg_B.1.0.bpmn": {nets: []size{{4, 3, 6, 3, 2}, {5, 5, 9, 5, 4}, {30, 31, 99, 15, 16}, {4, 3, 6, 3, 2}}, warnings: 1},
		"miwg_B.2.0.bpmn": {nets: []size{{11, 11, 30, 8, 7}, {31, 28, 68, 21, 22}, {92, 95, 322, 50, 57}, {4, 3, 6, 3, 2}}, warnings: 13},
		"miwg_C.1.0.bpmn": {nets: []size{{10, 10, 19, 11, 10}, {13, 14, 27, 10, 10}}, warnings: 1},
		"miwg_C.3.0.bpmn": {nets: []size{{24, 28, 55, 14, 17}}, warnings: 1},
		"miwg_C.9.2.bpmn": {nets: []size{{26, 23, 113, 8, 4}}, warnings: 2},
	}
}
