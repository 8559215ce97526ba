// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/table"
)

// arrange joins the answers of a table's queries by their labels, and sorts and names the
// columns. It removes other labels.
func (p *Panel) arrange(panel *dashboard.Panel) {
	exclude := map[string]bool{"Time": true}
	index, rename := map[string]int{}, map[string]string{}
	for i := range p.Queries {
		exclude[p.field(i)] = true
	}
	for i := range p.Columns {
		c := &p.Columns[i]
		field := c.Label
		if c.Value != "" {
			field = p.valueField(c.Value)
		}
		delete(exclude, field)
		index[field], rename[field] = i, c.Title
		panel.FieldConfig.Overrides = append(panel.FieldConfig.Overrides, c.override(p))
	}
	panel.Transformations = []dashboard.DataTransformerConfig{
		{Id: "merge", Options: map[string]any{}},
		{Id: "organize", Options: map[string]any{"excludeByName": exclude, "indexByName": index, "renameByName": rename}},
	}
	if first := p.firstValue(); first != "" {
		panel.Options = sortedBy(panel.Options, first)
	}
}

// field returns Grafana's name of the value of the i-th query of a table.
func (p *Panel) field(i int) string {
	if len(p.Queries) == 1 {
		return "Value"
	}
	return "Value #" + refID(i)
}

// valueField returns the same by legend.
func (p *Panel) valueField(legend string) string {
	for i, q := range p.Queries {
		if q.Legend == legend {
			return p.field(i)
		}
	}
	return ""
}

// firstValue returns the title of the first column with a value, by which a table is
// sorted, the largest on top.
func (p *Panel) firstValue() string {
	for _, c := range p.Columns {
		if c.Value != "" {
			return c.Title
		}
	}
	return ""
}

func (c *Column) override(p *Panel) dashboard.DashboardFieldConfigSourceOverrides {
	o := dashboard.DashboardFieldConfigSourceOverrides{Matcher: dashboard.MatcherConfig{Id: "byName", Options: c.Title}}
	set := func(id string, value any) {
		o.Properties = append(o.Properties, dashboard.DynamicConfigValue{Id: id, Value: value})
	}
	if c.Unit != "" {
		set("unit", c.Unit)
	}
	if len(c.Steps) > 0 {
		var steps []Step
		for _, s := range c.Steps {
			steps = append(steps, Step{s.From, onCell(s.Colour)})
		}
		set("thresholds", thresholds(steps))
	}
	if mappings := c.mappings(); len(mappings) > 0 {
		set("mappings", mappings)
	}
	if len(c.Steps)+len(c.Names) > 0 {
		set("custom.cellOptions", map[string]any{"type": "color-background", "mode": "basic"})
	}
	if c.Label != "" {
		set("noValue", "") // without a text no link, too
		set("custom.filterable", true)
		set("custom.minWidth", c.least())
	}
	if c.Width > 0 {
		set("custom.width", c.Width)
	}
	if c.Link != "" {
		set("links", []any{map[string]any{"title": "Open " + c.Title, "url": p.link(c)}})
	}
	return o
}

// mappings returns what is shown for single values, and no colour for a value that is not there.
func (c *Column) mappings() (mappings []any) {
	if len(c.Steps) > 0 {
		mappings = append(mappings, map[string]any{"type": "special", "options": map[string]any{"match": "null", "result": map[string]any{"color": silent}}})
	}
	options := map[string]any{}
	if c.Blank {
		options["0"] = map[string]any{"text": " "}
	}
	for text, colour := range c.Names {
		options[text] = map[string]any{"color": onCell(colour)}
	}
	if len(options) > 0 {
		mappings = append(mappings, map[string]any{"type": "value", "options": options})
	}
	return mappings
}

// least returns the least width of a column with text, in pixels. Names that a click opens
// are the longest.
func (c *Column) least() int {
	if c.Link != "" {
		return 180
	}
	return 120
}

// link returns the link from a cell to another dashboard, with the same time, data source
// and sidecars. The net is that of the row, or the chosen one.
func (p *Panel) link(c *Column) string {
	url := fmt.Sprintf("/d/%s?${datasource:queryparam}&${job:queryparam}&${instance:queryparam}&${__url_time_range}&var-%s=${__value.raw}", c.Link, c.Label)
	if c.Label == "net" {
		return url
	}
	for _, other := range p.Columns {
		if other.Label == "net" {
			return url + "&var-net=${__data.fields." + other.Title + "}"
		}
	}
	return url + "&${net:queryparam}"
}

// sortedBy sets the column by which a table is sorted at first.
func sortedBy(options any, column string) any {
	if o, ok := options.(*table.Options); ok {
		o.SortBy = []common.TableSortByFieldState{{DisplayName: column, Desc: new(true)}}
	}
	return options
}
