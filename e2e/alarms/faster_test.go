// SPDX-License-Identifier: Apache-2.0

//go:build peers

package alarms

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// faster is how much faster tests with real servers are: a minute is a second.
const faster = 60

var (
	// In expressions: ranges, offsets and comparisons with an earlier time.
	inBrackets = regexp.MustCompile(`(\[|offset )(\d+)([smh])\b`)
	earlier    = regexp.MustCompile(`(time\(\) - )(\d+)`)
	// Of rules and routes.
	fields = regexp.MustCompile(`(?m)^( *(?:for|keep_firing_for|group_wait|group_interval|repeat_interval): )(\d+)([smh])$`)
)

// madeFaster returns the text of a file with each duration divided by faster.
func madeFaster(text []byte) []byte {
	for _, re := range []*regexp.Regexp{inBrackets, fields} {
		text = re.ReplaceAllFunc(text, func(found []byte) []byte {
			part := re.FindSubmatch(found)
			d, err := time.ParseDuration(string(part[2]) + string(part[3]))
			if err != nil {
				panic(err) // the expression finds only durations
			}
			return fmt.Appendf(nil, "%s%dms", part[1], (d / faster).Milliseconds())
		})
	}
	return earlier.ReplaceAllFunc(text, func(found []byte) []byte {
		part := earlier.FindSubmatch(found)
		n, err := strconv.Atoi(string(part[2]))
		if err != nil {
			panic(err) // as above
		}
		return fmt.Appendf(nil, "%s%d", part[1], max(n/faster, 1))
	})
}
