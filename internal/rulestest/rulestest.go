// SPDX-License-Identifier: Apache-2.0

//go:build peers

package rulestest

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// Factor is how much faster tests with real servers are: a minute is a second.
const Factor = 60

var (
	// In expressions: ranges, offsets and comparisons with an earlier time.
	inBrackets = regexp.MustCompile(`(\[|offset )(\d+)([smh])\b`)
	earlier    = regexp.MustCompile(`(time\(\) - )(\d+)`)
	// Of rules and routes.
	fields = regexp.MustCompile(`(?m)^( *(?:for|keep_firing_for|group_wait|group_interval|repeat_interval): )(\d+)([smh])$`)
)

// Faster returns the text of a file with each duration divided by Factor.
func Faster(text []byte) []byte {
	for _, re := range []*regexp.Regexp{inBrackets, fields} {
		text = re.ReplaceAllFunc(text, func(found []byte) []byte {
			part := re.FindSubmatch(found)
			d, err := time.ParseDuration(string(part[2]) + string(part[3]))
			if err != nil {
				panic(err) // the expression finds only durations
			}
			return fmt.Appendf(nil, "%s%dms", part[1], (d / Factor).Milliseconds())
		})
	}
	return earlier.ReplaceAllFunc(text, func(found []byte) []byte {
		part := earlier.FindSubmatch(found)
		n, err := strconv.Atoi(string(part[2]))
		if err != nil {
			panic(err) // as above
		}
		return fmt.Appendf(nil, "%s%d", part[1], max(n/Factor, 1))
	})
}
