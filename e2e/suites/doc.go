// SPDX-License-Identifier: Apache-2.0

// Package suites measures pnagent with the files and the tests of other
// projects: BPMN files of the Model Interchange Working Group, of Camunda and of
// Zeebe, and what the tests of the two engines state about theirs. There is
// nothing here but tests.
//
//	make suites SUITES=DIR
//
// DIR holds a checkout of each suite, by the name of its repository:
// bpmn-miwg-test-suite, camunda-bpm-platform, zeebe. The tests read them there,
// because they are not part of pnagent. Without PNAGENT_SUITES, which names DIR,
// the tests skip.
//
// The files below testdata name tests of those suites, and state in own words
// what each test does and expects. scenario_test.go has their language. A
// [player] reads the BPMN files and plays them with package engine. A behaviour
// is right; or it is refused, if pnagent does not read the file or cannot play it
// and returns the reason; or it is wrong. Wrong behaviours fail the test.
//
// docs/design/foreign-files.md has the table.
package suites
