// SPDX-License-Identifier: Apache-2.0

// Package suites measures pnagent with the files and the tests of other
// projects. There is nothing here but tests.
//
//	make suites SUITES=DIR
//
// DIR holds a checkout of each suite, by the name of its repository; scripts/suites
// gets those that are not there from GitHub. The tests read them there, because they
// are not part of pnagent. Without PNAGENT_SUITES, which names DIR, or without the
// checkout of a suite, its tests skip.
//
// [TestFiles] reads BPMN files. [TestBehaviours] plays what the tests of Camunda and
// Zeebe state. [TestQueries] answers properties of nets of TAPAAL and the Model
// Checking Contest, and [TestLogs] computes the fitness of logs of pm4py; each beside
// a slow program of slow_test.go, where the suite does not state the answer.
// [TestProcessesOfSpiffWorkflow], with the tag peers, plays processes as SpiffWorkflow itself does.
//
// The files below testdata name tests of those suites, and state in own words
// what each test does and expects. scenario_test.go has their language. A
// [player] reads the BPMN files and plays them with package engine. A behaviour
// is right; or it is refused, if pnagent does not read the file or cannot play it
// and returns the reason; or warned, if it differs because of an event for which
// pnagent has warned that it comes from outside; or it is wrong. Wrong behaviours
// fail the test.
//
// docs/design/foreign-files.md has the tables.
package suites
