// SPDX-License-Identifier: Apache-2.0

package web

import (
	"testing"

	"github.com/pnagent/pnagent/collector/alarm"
)

// An alarm is known to hold, or unknown, or follows from a lost source; one that is unknown has
// the source because of which it is, unless there are several.
func TestUnknownAlarmsHaveTheirSource(t *testing.T) {
	lost := func(sources ...string) *alarm.Origins {
		var all alarm.Origins
		for _, s := range sources {
			all = append(all, alarm.Origin{Source: s}, alarm.Origin{Source: s, Region: "eu"})
		}
		return &all
	}
	for _, c := range []struct {
		of   alarm.Alarm
		want string
		n    counted
	}{
		{alarm.Alarm{Kind: alarm.TokenStuck, Subject: "p"}, "", counted{all: 1}},
		{alarm.Alarm{Kind: alarm.TokenStuck, Subject: "p", Lost: lost("berlin")}, "", counted{all: 1}},
		{alarm.Alarm{Kind: alarm.TokenStuck, Subject: "p", Unknown: "forgotten", Lost: lost("berlin")}, "berlin", counted{all: 1, unknown: 1}},
		{alarm.Alarm{Kind: alarm.TokenStuck, Subject: "p", Unknown: "forgotten", Lost: lost("berlin", "osaka")}, "", counted{all: 1, unknown: 1}},
		{alarm.Alarm{Kind: alarm.TokenStuck, Subject: "p", Unknown: "no source reports it any more"}, "", counted{all: 1, unknown: 1}},
		{alarm.Alarm{Kind: alarm.SourceRefused, Subject: "berlin", Unknown: "forgotten"}, "berlin", counted{all: 1, unknown: 1}},
		{alarm.Alarm{Kind: alarm.SourceLost, Subject: "berlin", Unknown: "forgotten"}, "berlin", counted{all: 1, unknown: 1}},
		{alarm.Alarm{Kind: alarm.TokenStuck, Subject: "p", Unknown: "forgotten", Lost: lost("berlin"), Follows: "berlin"}, "berlin", counted{all: 1, follow: 1}},
	} {
		d := alarmDocument(&c.of, 0)
		if d.Lost != c.want || (counted{}).and(&c.of) != c.n {
			t.Errorf("%s of %s with %q has the source %q and is counted as %+v; want %q and %+v", c.of.Kind, c.of.Subject, c.of.Unknown, d.Lost, (counted{}).and(&c.of), c.want, c.n)
		}
	}
}
