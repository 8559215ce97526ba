// SPDX-License-Identifier: Apache-2.0

// Package enginetest is for tests of adapters with real engines. An [Engine] is a
// program that runs an engine and answers commands; a [Page] types the
// commands of a document and compares what SNMP, Prometheus and the page show.
// Both are built with the tag peers.
package enginetest

import (
	"os"
	"strings"
	"testing"
)

// blocks returns the blocks of code of a kind.
func blocks(page, kind string) (all []string) {
	for _, b := range strings.Split(page, "\n```"+kind+"\n")[1:] {
		text, _, _ := strings.Cut(b, "\n```")
		all = append(all, text)
	}
	return all
}

// Block returns the block of code of a kind in a document that begins in a way.
func Block(t *testing.T, document, kind, begin string) string {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks(string(text), kind) {
		if strings.HasPrefix(b, begin) {
			return b
		}
	}
	t.Fatalf("%s has no block of %s that begins with %q", document, kind, begin)
	return ""
}
