// SPDX-License-Identifier: Apache-2.0

package integrations

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/internal/plaintext"
)

// mapping is a mapping of YAML in the order of its entries. Values are mappings, lists of
// values, texts and numbers.
type mapping []entry

type entry struct {
	key   string
	value any
}

// list is a list of YAML.
type list []any

// texts returns a list of texts.
func texts(all ...string) list {
	l := make(list, len(all))
	for i, s := range all {
		l[i] = s
	}
	return l
}

// yamlFile returns a document of YAML.
func yamlFile(head string, m mapping) []byte {
	return []byte(head + strings.Join(yamlLines(m), "\n") + "\n")
}

// yamlLines returns a value in block style.
func yamlLines(v any) (lines []string) {
	switch v := v.(type) {
	case mapping:
		for _, e := range v {
			below := yamlLines(e.value)
			if isScalar(e.value) {
				lines = append(lines, yamlKey(e.key)+": "+below[0])
				continue
			}
			lines = append(lines, yamlKey(e.key)+":")
			lines = append(lines, indented(below, "  ", "  ")...)
		}
	case list:
		for _, one := range v {
			lines = append(lines, indented(yamlLines(one), "- ", "  ")...)
		}
	case string:
		return []string{yamlText(v)}
	case int:
		return []string{strconv.Itoa(v)}
	case float64:
		return []string{strconv.FormatFloat(v, 'g', -1, 64)}
	default:
		panic(fmt.Sprintf("a value of %T in YAML", v))
	}
	return lines
}

func isScalar(v any) bool {
	switch v.(type) {
	case mapping, list:
		return false
	}
	return true
}

func indented(lines []string, first, rest string) []string {
	for i := range lines {
		if i == 0 {
			lines[i] = first + lines[i]
		} else {
			lines[i] = rest + lines[i]
		}
	}
	return lines
}

// yamlKey returns a key: a number of an enumeration is one, and has no quotes.
func yamlKey(s string) string {
	if _, err := strconv.ParseUint(s, 10, 32); err == nil {
		return s
	}
	return yamlText(s)
}

// yamlText returns a text of one line as a scalar of YAML: plain if it is a word for every
// reader, else in single quotes, in which only these have a meaning.
func yamlText(s string) string {
	s = plaintext.Escape(s)
	reserved := []string{"", "true", "false", "yes", "no", "on", "off", "null", "y", "n"}
	const words = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
	if !slices.Contains(reserved, strings.ToLower(s)) && strings.Trim(s, words) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}
