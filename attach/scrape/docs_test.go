// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"os"
	"strings"
	"testing"
)

// docs/attach/scrape.md is complete: its mappings can be read, and it lists
// every shipped mapping, every key and every result of a scrape.
func TestTheDocumentListsEverything(t *testing.T) {
	text, err := os.ReadFile("../../docs/attach/scrape.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(text)
	blocks := strings.Split(doc, "```yaml\n")[1:]
	if len(blocks) != 3 {
		t.Errorf("%d mappings in the document", len(blocks))
	}
	for _, b := range blocks {
		b, _, _ = strings.Cut(b, "```")
		if _, err := ReadMapping(strings.NewReader(b), "docs/attach/scrape.md"); err != nil {
			t.Error(err)
		}
	}
	all, err := Mappings.All()
	if err != nil {
		t.Fatal(err)
	}
	words := results()
	for _, m := range all {
		words = append(words, m.Name)
	}
	for c := range numColumns {
		words = append(words, specOf(c).key)
	}
	for r := range numReasons {
		words = append(words, r.String())
	}
	for _, w := range words {
		if !strings.Contains(doc, "`"+w+"`") {
			t.Errorf("the document does not mention %s", w)
		}
	}
}
