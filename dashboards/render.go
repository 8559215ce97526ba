// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/heatmap"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"

	"github.com/pnagent/pnagent/metrics"
)

// tag is the tag by which the dashboards are found.
const tag = "pnagent"

// built is an existing value as a builder.
type built[T any] struct{ value T }

// Build implements cog.Builder.
func (b built[T]) Build() (T, error) { return b.value, nil }

// datasource returns the chosen data source.
func datasource() common.DataSourceRef {
	return common.DataSourceRef{Type: new("prometheus"), Uid: new("${datasource}")}
}

// JSON renders a dashboard as Grafana imports it.
func (d *Dashboard) JSON() ([]byte, error) {
	b := dashboard.NewDashboardBuilder(d.Title).Uid(d.UID).Description(d.Description).Tags([]string{tag, "petri-net"}).
		Readonly().Tooltip(dashboard.DashboardCursorSyncCrosshair).Time("now-1h", "now").Refresh("30s").Timezone("browser").
		Links(d.links())
	for _, v := range d.variables() {
		b.WithVariable(v)
	}
	id := uint32(0)
	for _, row := range d.Rows {
		id++
		heading := dashboard.NewRowBuilder(row.Title).Id(id).Collapsed(row.Folded)
		add := func(p dashboard.Panel) { b.WithPanel(built[dashboard.Panel]{p}) }
		if row.Folded {
			add = func(p dashboard.Panel) { heading.WithPanel(built[dashboard.Panel]{p}) }
		} else {
			b.WithRow(heading)
		}
		for i := range row.Panels {
			id++
			panel, err := row.Panels[i].render(id)
			if err != nil {
				return nil, fmt.Errorf("panel %q of dashboard %s: %w", row.Panels[i].Title, d.UID, err)
			}
			add(panel)
		}
		if row.Folded {
			b.WithRow(heading)
		}
	}
	model, err := b.Build()
	if err != nil {
		return nil, fmt.Errorf("dashboard %s: %w", d.UID, err)
	}
	fillSlices(reflect.ValueOf(&model))
	return withAnnotations(model, d.annotation())
}

// fillSlices makes every nil slice below a pointer an empty one, because Grafana does not
// show a panel with a list that is null in JSON.
func fillSlices(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			fillSlices(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fillSlices(v.Field(i))
		}
	case reflect.Slice:
		if v.IsNil() && v.CanSet() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		for i := range v.Len() {
			fillSlices(v.Index(i))
		}
	}
}

// withAnnotations adds an annotation to a dashboard. The SDK does not have the
// fields of the Prometheus data source's texts.
func withAnnotations(model dashboard.Dashboard, annotation map[string]any) ([]byte, error) {
	text, err := json.Marshal(model)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	fields["annotations"] = map[string]any{"list": []any{annotation}}
	text, err = json.MarshalIndent(fields, "", "  ")
	return append(text, '\n'), err
}

// markStep is the step of the annotation's query. A series that is there for so long is one
// point, which Grafana draws as a line; it colours the time of a longer one.
const markStep = "30s"

// Annotation returns the expression that marks when alarms were raised, a point for each.
func (d *Dashboard) Annotation() string {
	about := d.alarmed()
	return alarms(about...) + " unless " + most(alarmLabels, of(metrics.AlarmActive, about...)+" offset "+markStep)
}

// Alarms returns the expression of the dashboard's alarms: a series for the time that each
// is active.
func (d *Dashboard) Alarms() string { return graded(d.alarmed()...) }

// alarmed returns the matchers of those alarms.
func (d *Dashboard) alarmed() (about []string) {
	for _, v := range d.Variables {
		switch {
		case v.Name == "place":
			about = []string{thisSpot}
		case v.Name == "net" && v.Multi:
			about = []string{orNoNet}
		case v.Name == "net":
			about = []string{thisNet}
		}
	}
	return about
}

func (d *Dashboard) annotation() map[string]any {
	return map[string]any{
		"name": "Alarms", "datasource": datasource(), "enable": true, "hide": false, "iconColor": burnt,
		"expr": d.Annotation(), "step": markStep, "tagKeys": "alarm",
		"titleFormat": "{{alarm}}", "textFormat": "{{net}} {{place}}{{transition}}{{source}}{{region}}",
	}
}

// variables returns the variables of every dashboard and the dashboard's own.
func (d *Dashboard) variables() []cog.Builder[dashboard.VariableModel] {
	all := []cog.Builder[dashboard.VariableModel]{
		dashboard.NewDatasourceVariableBuilder("datasource").Label("Data source").Type("prometheus"),
		choice(Variable{Name: "job", Title: "Job", From: "pnagent_build_info", Multi: true}),
		choice(Variable{Name: "instance", Title: "Sidecar", From: `pnagent_build_info{job=~"$job"}`, Multi: true}),
	}
	for _, v := range d.Variables {
		all = append(all, choice(v))
	}
	return all
}

func choice(v Variable) cog.Builder[dashboard.VariableModel] {
	query := fmt.Sprintf("label_values(%s, %s)", v.From, v.Name)
	b := dashboard.NewQueryVariableBuilder(v.Name).Label(v.Title).Datasource(datasource()).
		Query(dashboard.StringOrMap{String: &query}).
		Refresh(dashboard.VariableRefreshOnTimeRangeChanged).Sort(dashboard.VariableSortNaturalAsc)
	if v.Multi {
		all := dashboard.StringOrArrayOfString{String: new("All")}
		value := dashboard.StringOrArrayOfString{String: new("$__all")}
		b.Multi(true).IncludeAll(true).AllValue(".+").
			Current(dashboard.VariableOption{Selected: new(true), Text: all, Value: value})
	}
	return b
}

// render returns Grafana's panel: the options of its kind, then the common ones.
func (p *Panel) render(id uint32) (dashboard.Panel, error) {
	panel, err := p.look()
	if err != nil {
		return panel, err
	}
	source := datasource()
	panel.Id, panel.Title, panel.Description, panel.Datasource = &id, &p.Title, &p.Description, &source
	panel.GridPos = &dashboard.GridPos{W: p.Width, H: p.Height}
	if panel.FieldConfig == nil {
		panel.FieldConfig = dashboard.NewFieldConfigSource()
	}
	defaults := &panel.FieldConfig.Defaults
	defaults.Unit, defaults.NoValue = &p.Unit, new("none")
	if top, ok := softMax()[p.Unit]; ok && p.Kind == Lines {
		defaults.Custom.(*timeseries.FieldConfig).AxisSoftMax = &top
	}
	mode := dashboard.FieldColorModeIdPaletteClassic
	if p.Kind == Stat { // its small graph has no axis: a fall by 1 would look as one to 0
		defaults.Min, defaults.Mappings = new(0.0), []dashboard.ValueMapping{absent()}
	}
	if len(p.Steps) > 0 {
		mode, defaults.Thresholds = dashboard.FieldColorModeIdThresholds, thresholds(p.Steps)
	}
	if defaults.Color == nil {
		defaults.Color = &dashboard.FieldColor{Mode: mode}
	}
	for i, q := range p.Queries {
		target, err := p.query(i, q).Build()
		if err != nil {
			return panel, err
		}
		panel.Targets = append(panel.Targets, target)
	}
	switch p.Kind {
	case Table:
		p.arrange(&panel)
	case Heatmap:
		panel.Transformations = []dashboard.DataTransformerConfig{withoutEmpty()}
	}
	return panel, nil
}

// withoutEmpty removes answers without a series: of several of them a heat map shows
// "TypeError: Cannot read properties of undefined", and without one of them "No data".
func withoutEmpty() dashboard.DataTransformerConfig {
	return dashboard.DataTransformerConfig{Id: "filterFieldsByName", Options: map[string]any{"include": map[string]any{"pattern": ".*"}}}
}

// absent shows a value that is not there in the colour of text, not in that of a good value.
func absent() dashboard.ValueMapping {
	return dashboard.ValueMapping{SpecialValueMap: &dashboard.SpecialValueMap{Type: dashboard.MappingTypeSpecialValue,
		Options: dashboard.DashboardSpecialValueMapOptions{Match: dashboard.SpecialValueMatchNull, Result: dashboard.ValueMappingResult{Color: new("text")}}}}
}

// softMax returns what an axis reaches at least, by unit, so that zeros are at its bottom.
func softMax() map[string]float64 {
	return map[string]float64{"short": 1, each: 0.1, "reqps": 1, "s": 0.1}
}

// refID returns the name of the i-th query of a panel.
func refID(i int) string { return string(rune('A' + i)) }

func (p *Panel) query(i int, q Query) *prometheus.DataqueryBuilder {
	b := prometheus.NewDataqueryBuilder().Expr(q.Expr).RefId(refID(i)).Datasource(datasource()).EditorMode(prometheus.QueryEditorModeCode)
	switch {
	case p.Instant():
		return b.Instant().Format(prometheus.PromQueryFormatTable)
	case p.Buckets:
		return b.Range().Format(prometheus.PromQueryFormatHeatmap).LegendFormat(q.Legend)
	}
	return b.Range().Format(prometheus.PromQueryFormatTimeSeries).LegendFormat(q.Legend)
}

// look returns a panel of the kind, without the common options.
func (p *Panel) look() (dashboard.Panel, error) {
	switch p.Kind {
	case Stat:
		return p.number().Build()
	case Heatmap:
		return p.heatmap().Build()
	case Table:
		return table.NewPanelBuilder().ShowHeader(true).CellHeight(common.TableCellHeightSm).MinWidth(60).
			ColorScheme(dashboard.NewFieldColorBuilder().Mode(dashboard.FieldColorModeIdThresholds)).
			Thresholds(dashboard.NewThresholdsConfigBuilder().Mode(dashboard.ThresholdsModeAbsolute).
				Steps([]dashboard.Threshold{{Color: silent}})).Build()
	}
	return p.lines().Build()
}

// number names what it is the number of where there may be several.
func (p *Panel) number() *stat.PanelBuilder {
	text := common.BigValueTextModeValue
	switch {
	case p.Named:
		text = common.BigValueTextModeName
	case strings.Contains(p.Queries[0].Legend, "{{"):
		text = common.BigValueTextModeValueAndName
	}
	return stat.NewPanelBuilder().GraphMode(common.BigValueGraphModeArea).ColorMode(common.BigValueColorModeValue).TextMode(text).
		Orientation(common.VizOrientationAuto).ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"}))
}

// below is the number of lines that a legend below the graph has space for.
const below = 2

// many reports whether there may be more lines than a legend below the graph has space for.
func (p *Panel) many() bool {
	return len(p.Queries) > below || slices.ContainsFunc(p.Queries, func(q Query) bool { return strings.Contains(q.Legend, "{{") })
}

func (p *Panel) lines() *timeseries.PanelBuilder {
	legend := common.NewVizLegendOptionsBuilder().ShowLegend(true).DisplayMode(common.LegendDisplayModeTable).
		Placement(common.LegendPlacementBottom).Calcs([]string{"lastNotNull", "max"}).SortBy("Last *").SortDesc(true)
	fill := 10.0
	if p.many() {
		legend.Placement(common.LegendPlacementRight)
		fill = 0
	}
	b := timeseries.NewPanelBuilder().LineWidth(1).FillOpacity(fill).ShowPoints(common.VisibilityModeNever).AxisSoftMin(0).
		Legend(legend).
		Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeMulti).Sort(common.SortOrderDescending))
	if p.Rare {
		b.ShowPoints(common.VisibilityModeAuto).Legend(legend.Calcs([]string{"max"}).SortBy("Max"))
	}
	if p.Stacked {
		b.Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal)).FillOpacity(60)
	}
	if len(p.Steps) > 0 {
		b.ThresholdsStyle(common.NewGraphThresholdsStyleConfigBuilder().Mode(common.GraphThresholdsStyleModeDashed))
	}
	return b
}

func (p *Panel) heatmap() *heatmap.PanelBuilder {
	b := heatmap.NewPanelBuilder().Calculate(false).CellGap(1).ShowValue(common.VisibilityModeNever).ShowLegend().
		Color(heatmap.NewHeatmapColorOptionsBuilder().Mode(heatmap.HeatmapColorModeOpacity).Scheme("Oranges").
			Scale(heatmap.HeatmapColorScaleExponential).Exponent(0.3).Steps(64).Reverse(false).Fill("dark-orange")).
		FilterValues(heatmap.NewFilterValueRangeBuilder().Le(1e-9)).
		CellValues(heatmap.NewCellValuesBuilder().Unit("short")).
		Tooltip(heatmap.NewHeatmapTooltipBuilder().Mode(common.TooltipDisplayModeSingle).YHistogram(true))
	axis := heatmap.NewYAxisConfigBuilder().AxisPlacement(common.AxisPlacementLeft)
	if p.Buckets {
		axis.Unit(p.Unit)
	}
	return b.YAxis(axis)
}

func thresholds(steps []Step) *dashboard.ThresholdsConfig {
	t := &dashboard.ThresholdsConfig{Mode: dashboard.ThresholdsModeAbsolute}
	for i, s := range steps {
		step := dashboard.Threshold{Color: s.Colour}
		if i > 0 { // the first is from minus infinity
			step.Value = &s.From
		}
		t.Steps = append(t.Steps, step)
	}
	return t
}
