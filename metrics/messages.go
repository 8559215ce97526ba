// SPDX-License-Identifier: Apache-2.0

package metrics

import dto "github.com/prometheus/client_model/go"

// messageForm makes families of messages for promhttp, which encodes them. The messages of a
// series are kept between scrapes.
type messageForm struct {
	shown  []dto.MetricFamily // by family
	out    []*dto.MetricFamily
	family int
	before int // series of the family before the last reading
}

// shownFamilies returns the families without series.
func shownFamilies(families []Family) []dto.MetricFamily {
	shown := make([]dto.MetricFamily, len(families))
	for i := range families {
		f := &families[i]
		typ := [...]dto.MetricType{dto.MetricType_GAUGE, dto.MetricType_COUNTER, dto.MetricType_HISTOGRAM}[f.Type]
		shown[i].Name, shown[i].Help, shown[i].Type = &f.Name, &f.Help, &typ
	}
	return shown
}

func (m *messageForm) begin(family int) {
	m.family = family
	m.shown[family].Metric = m.shown[family].Metric[:0]
}

// read keeps the series of the last reading if they cannot have changed.
func (m *messageForm) read(s *scrape, n *netSeries, f *Family) int {
	out := &n.series[m.family]
	if f.scope != ofRows || f.ages || out.version != n.version {
		s.out, out.n, out.version = out, 0, n.version
		s.readFamily(f)
	}
	shown := &m.shown[m.family]
	m.before = len(shown.Metric)
	shown.Metric = append(shown.Metric, out.kept[:out.n]...)
	return out.n
}

func (m *messageForm) drop() {
	m.shown[m.family].Metric = m.shown[m.family].Metric[:m.before]
}

func (m *messageForm) end() {
	if shown := &m.shown[m.family]; len(shown.Metric) > 0 {
		m.out = append(m.out, shown)
	}
}
