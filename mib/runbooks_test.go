// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const runbookDir = "../docs/runbooks"

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(runbookDir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestEveryNotificationHasARunbook(t *testing.T) {
	index := page(t, "README.md")
	pages := map[string]bool{"README.md": true}
	for _, n := range notifications() {
		name := strings.TrimPrefix(n.runbook(), runbooks)
		pages[name] = true
		text := page(t, name)
		title, _, _ := strings.Cut(text, "\n")
		if !slices.Contains(strings.FieldsFunc(title, func(r rune) bool { return strings.ContainsRune("# /", r) }), n.name) {
			t.Errorf("the title of %s, %q, does not name %s", name, title, n.name)
		}
		if !strings.Contains(index, "`"+n.descriptor()+"`") || !strings.Contains(index, "("+name+")") {
			t.Errorf("README.md does not lead from %s to %s", n.descriptor(), name)
		}
		for _, section := range []string{"What it means", "How to see more", "Usual causes", "What to do", "When it clears"} {
			if !strings.Contains(text, "\n## "+section+"\n") {
				t.Errorf("%s has no section %q", name, section)
			}
		}
		if n.clears && !strings.Contains(text, "`"+n.descriptor()+"` is sent when") {
			t.Errorf("%s: got no text on when %s is sent; want one", name, n.descriptor())
		}
	}
	files, err := os.ReadDir(runbookDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !f.IsDir() && !pages[f.Name()] { // directories hold pages of others
			t.Errorf("%s belongs to no notification", f.Name())
		}
	}
}

// The list of the runbooks has the default severities of the page about alarms.
func TestTheRunbooksHaveTheSeveritiesOfTheAlarms(t *testing.T) {
	index, alarms := page(t, "README.md"), page(t, "../alarms.md")
	for _, n := range notifications() {
		if n.kind == 0 || n.clears {
			continue
		}
		severity := regexp.MustCompile("(?m)^\\| `" + n.kind.String() + "` \\|.*\\| (\\w+) \\|$").FindStringSubmatch(alarms)
		row := regexp.MustCompile("(?m)^\\| \\[`" + n.descriptor() + "`\\]\\S+ \\| \\S+ \\| (\\w+) \\|").FindStringSubmatch(index)
		if severity == nil || row == nil || severity[1] != row[1] {
			t.Errorf("%s is in alarms.md as %v, and in the list of runbooks as %v", n.kind, severity, row)
		}
	}
}

// The commands and objects that a page names must exist.
func TestRunbooksNameObjectsThatExist(t *testing.T) {
	dir, _ := generateTo(t)
	nodes := parsed(t, dir, PetrinetModule)
	objects := regexp.MustCompile("PETRINET-MIB::(\\w+)|`((?:pn|agent|net|place|transition|stuck|block|source|alarm|queue|token)[A-Z]\\w*)`")
	labels := map[string]bool{}
	for _, c := range petrinet().conventions {
		for _, l := range c.labels {
			labels[l] = true
		}
	}
	files, err := filepath.Glob(runbookDir + "/*.md")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text := page(t, filepath.Base(file))
		for _, m := range objects.FindAllStringSubmatch(text, -1) {
			name := m[1] + m[2]
			if _, ok := nodes[PetrinetModule+"::"+name]; !ok && !labels[name] {
				t.Errorf("%s names %s, which is not there", filepath.Base(file), name)
			}
		}
		for _, link := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(text, -1) {
			target, _, _ := strings.Cut(link[1], "#")
			if _, err := os.Stat(filepath.Join(runbookDir, target)); err != nil {
				t.Errorf("link in %s: %v", filepath.Base(file), err)
			}
		}
	}
}

// The examples for snmpd, snmp_exporter and Zabbix name what is there, too.
func TestExamplesNameObjectsThatExist(t *testing.T) {
	dir, _ := generateTo(t)
	nodes := parsed(t, dir, PetrinetModule)
	files, err := filepath.Glob("../examples/snmpd/*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	objects := regexp.MustCompile(`PETRINET-MIB::(\w+)|\b((?:pn|agent|net|place|transition|stuck|block|source|alarm|queue)(?:[A-Z][a-z0-9]+)+)\b`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range objects.FindAllStringSubmatch(string(text), -1) {
			if _, ok := nodes[PetrinetModule+"::"+m[1]+m[2]]; !ok && m[0] != "agentAddress" { // a directive of snmpd
				t.Errorf("%s names %s, which is not there", file, m[0])
			}
		}
	}
}
