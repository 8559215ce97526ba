// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// nearest returns the one or two words that are most like a word, for messages; "" if none is
// like it.
func nearest(word string, words []string) string {
	var near []string
	for _, w := range slices.Compact(slices.Sorted(slices.Values(words))) {
		if unlike(word, w) <= max(2, len(word)/3) {
			near = append(near, w)
		}
	}
	slices.SortStableFunc(near, func(a, b string) int { return cmp.Compare(unlike(word, a), unlike(word, b)) })
	if len(near) > 1 && unlike(word, near[1]) > unlike(word, near[0]) {
		near = near[:1]
	}
	return strings.Join(near[:min(len(near), 2)], " or ")
}

// corrected returns an error of the parser with the names that are most like an unknown one, or
// with the environment variable that has the value.
func (v *values) corrected(err error) error {
	if flag := regexp.MustCompile(`^--([\w.-]+)`).FindStringSubmatch(err.Error()); flag != nil && v.from[flag[1]] != "" {
		return fmt.Errorf("%s: %w", v.from[flag[1]], err)
	}
	unknown := regexp.MustCompile(`^(unknown flag|unexpected argument) (\S+?)(,|$)`).FindStringSubmatch(err.Error())
	var parsed *kong.ParseError
	if unknown == nil || !errors.As(err, &parsed) {
		return err
	}
	var node *kong.Node // the command; a flag or an argument after it is none
	for _, step := range parsed.Context.Path {
		node = cmp.Or(step.Node(), node)
	}
	var names []string
	if unknown[1] == "unknown flag" {
		for _, flag := range slices.Concat(node.AllFlags(true)...) {
			names = append(names, "--"+flag.Name)
		}
	} else {
		if len(node.Children) == 0 && node.Parent != nil {
			node = node.Parent
		}
		for _, command := range node.Children {
			names = append(names, command.Name)
		}
	}
	found := fmt.Errorf("%s %s", unknown[1], unknown[2])
	if near := nearest(unknown[2], names); near != "" {
		return fmt.Errorf("%w; did you mean %s?", found, near)
	}
	return found
}

// unlike is the distance of a word to another one, or to the begin of that.
func unlike(word, whole string) int {
	return min(distance(word, whole), distance(word, whole[:min(len(word), len(whole))])+1)
}

// distance is that of Levenshtein: how many letters differ, are missing or are too many.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
