// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"strings"
	"time"

	"github.com/pnagent/pnagent/internal/cron"
	"github.com/pnagent/pnagent/internal/zones"
	"github.com/pnagent/pnagent/stats"
)

// schedule is what makes runs at times, such as a CronJob. Its net is there also while no run is.
type schedule struct {
	id, net string
	step    string // the first one of its runs; "" if that is not known
	next    int64  // when the next run is due, also if that is past; 0 if it is not known, or if the schedule is suspended
	last    int64  // when the last one was due; 0 for none
}

func (s *schedule) uid() string { return s.id }

// nextOf returns the first time of some expressions after one; 0 if one of them, or the zone, is not
// known. Without a zone it is UTC, as controllers have it in containers.
func nextOf(expressions []string, zone string, after int64) (next int64) {
	in := time.UTC
	if zone != "" {
		found, err := zones.Load(zone)
		if err != nil {
			return 0
		}
		in = found
	}
	for _, text := range expressions {
		s, err := cron.Parse(text, in)
		if err != nil {
			return 0
		}
		next = stats.Earlier(next, s.Next(after))
	}
	return next
}

// isSchedule reports whether the net with an id is that of a schedule. If so, a later run that succeeds
// makes up for one that failed.
func isSchedule(net string) bool {
	parts := strings.Split(net, "/")
	return len(parts) == 3 && (parts[1] == "cronjob" || parts[1] == "cronworkflow")
}
