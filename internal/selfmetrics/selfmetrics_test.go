// SPDX-License-Identifier: Apache-2.0

package selfmetrics

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
)

// text returns what a scrape of the collector shows.
func text(t *testing.T, c prometheus.Collector) string {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(c)
	all, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, f := range all {
		if _, err := expfmt.MetricFamilyToText(&out, f); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

type counted struct {
	up      bool
	waiting int
	lost    map[string]uint64
}

var families = []Family[counted]{
	Bool("up", "Whether it is up.", func(c counted) bool { return c.up }),
	Number("waiting", "What waits.", func(c counted) int { return c.waiting }),
	ByLabel("lost_total", "reason", "What was lost.", func(c counted) map[string]uint64 { return c.lost }),
}

func TestFamiliesAreShown(t *testing.T) {
	c := New(families, func() (counted, bool) {
		return counted{up: true, waiting: 3, lost: map[string]uint64{"full": 2, "late": 5}}, true
	})
	const want = `# HELP lost_total What was lost.
# TYPE lost_total counter
lost_total{reason="full"} 2
lost_total{reason="late"} 5
# HELP up Whether it is up.
# TYPE up gauge
up 1
# HELP waiting What waits.
# TYPE waiting gauge
waiting 3
`
	if d := cmp.Diff(want, text(t, c)); d != "" {
		t.Error(d)
	}
}

func TestAPartThatIsNotThereHasNoSeriesButADescription(t *testing.T) {
	c := New(families, func() (counted, bool) { return counted{}, false })
	if got := text(t, c); got != "" {
		t.Errorf("shows %q; expected nothing", got)
	}
	all := c.Families()
	if len(all) != 3 || all[2].Name != "lost_total" || all[2].Type != "counter" || all[2].Labels[0] != "reason" || all[0].Type != "gauge" {
		t.Errorf("described as %+v", all)
	}
}

func TestOfReadsAPartUnlessItIsNil(t *testing.T) {
	read := func(c *counted) counted { return *c }
	if got := text(t, Of(families, &counted{waiting: 7}, read)); !strings.Contains(got, "waiting 7\n") {
		t.Errorf("shows %q", got)
	}
	absent := Of(families, (*counted)(nil), read)
	if got := text(t, absent); got != "" || len(absent.Families()) != len(families) {
		t.Errorf("shows %q and describes %d families", got, len(absent.Families()))
	}
}
