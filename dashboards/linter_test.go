// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/metrics"
)

// model is what the rules look at of a dashboard as Grafana reads it.
type model struct {
	UID, Title, Description string
	Editable                bool
	Tags                    []string
	Links                   []struct {
		Type, URL             string
		IncludeVars, KeepTime bool
	}
	Annotations struct{ List []map[string]any }
	Templating  struct{ List []templated }
	Panels      []panelModel
}

type templated struct {
	Name, Label, Type string
	Query             any
	Datasource        struct{ UID string }
	Refresh           int
	Multi, IncludeAll bool
	AllValue          string
}

type panelModel struct {
	ID                       int
	Type, Title, Description string
	Datasource               struct{ UID, Type string }
	GridPos                  struct{ X, Y, W, H int }
	FieldConfig              struct {
		Defaults struct {
			Unit     string
			Min      *float64
			Mappings []struct {
				Type    string
				Options struct {
					Match  string
					Result struct{ Color string }
				}
			}
		}
		Overrides []struct{ Matcher struct{ Options string } }
	}
	Options struct {
		Legend struct{ Placement string }
	}
	Panels  []panelModel // of a folded row
	Targets []struct {
		Expr, RefID, LegendFormat string
		Instant, Range            bool
		Datasource                struct{ UID string }
	}
	Transformations []struct {
		ID      string
		Options struct {
			ExcludeByName map[string]bool
			RenameByName  map[string]string
		}
	}
}

// lint runs a rule on every dashboard as it is written.
func lint(t *testing.T, rule func(t *testing.T, m model)) {
	t.Helper()
	for _, d := range All() {
		text, err := d.JSON()
		if err != nil {
			t.Fatal(err)
		}
		var m model
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatal(err)
		}
		t.Run(d.File, func(t *testing.T) { rule(t, m) })
	}
}

// lintPanels runs a rule on every panel that is no row, also on those of folded rows.
func lintPanels(t *testing.T, rule func(t *testing.T, p panelModel)) {
	t.Helper()
	lint(t, func(t *testing.T, m model) {
		for _, p := range m.all() {
			if p.Type != "row" {
				rule(t, p)
			}
		}
	})
}

// all returns the rows and panels of a dashboard, each row before its panels.
func (m model) all() (all []panelModel) {
	for _, p := range m.Panels {
		all = append(append(all, p), p.Panels...)
	}
	return all
}

func (m model) variable(name string) templated {
	i := slices.IndexFunc(m.Templating.List, func(v templated) bool { return v.Name == name })
	if i < 0 {
		return templated{}
	}
	return m.Templating.List[i]
}

// These are the rules of Grafana's dashboard-linter, by their names there.

func TestTemplateDatasourceRule(t *testing.T) {
	lint(t, func(t *testing.T, m model) {
		if v := m.variable("datasource"); v.Type != "datasource" || v.Query != "prometheus" || v.Label != "Data source" {
			t.Errorf("the variable datasource is %+v", v)
		}
	})
}

func TestTemplateJobAndInstanceRules(t *testing.T) {
	lint(t, func(t *testing.T, m model) {
		for _, name := range []string{"job", "instance"} {
			v := m.variable(name)
			if v.Type != "query" || !v.Multi || !v.IncludeAll || v.AllValue != ".+" || v.Datasource.UID != "${datasource}" || v.Label == "" {
				t.Errorf("the variable %s is %+v", name, v)
			}
		}
	})
}

func TestTemplateOnTimeChangeReloadRule(t *testing.T) {
	lint(t, func(t *testing.T, m model) {
		for _, v := range m.Templating.List {
			if v.Type == "query" && v.Refresh != 2 {
				t.Errorf("the variable %s is not read again when the time changes", v.Name)
			}
		}
	})
}

func TestUneditableDashboardRule(t *testing.T) {
	lint(t, func(t *testing.T, m model) {
		if m.Editable {
			t.Error("it can be edited, and would differ from its generator")
		}
	})
}

func TestPanelDatasourceRule(t *testing.T) {
	lintPanels(t, func(t *testing.T, p panelModel) {
		if p.Datasource.UID != "${datasource}" || p.Datasource.Type != "prometheus" {
			t.Errorf("%s asks %+v", p.Title, p.Datasource)
		}
		for _, target := range p.Targets {
			if target.Datasource.UID != "${datasource}" {
				t.Errorf("%s asks %+v", p.Title, target.Datasource)
			}
		}
	})
}

func TestPanelTitleDescriptionRule(t *testing.T) {
	lint(t, func(t *testing.T, m model) {
		if m.Title == "" || m.Description == "" {
			t.Error("it has no title or no description")
		}
	})
	lintPanels(t, func(t *testing.T, p panelModel) {
		if p.Title == "" || !strings.HasSuffix(p.Description, ".") {
			t.Errorf("panel %d has the title %q and the description %q; expected sentences", p.ID, p.Title, p.Description)
		}
	})
}

func TestPanelUnitsRule(t *testing.T) {
	known := []string{"s", "short", each, "reqps", "bytes", "Bps", "percentunit"}
	lintPanels(t, func(t *testing.T, p panelModel) {
		if !slices.Contains(known, p.FieldConfig.Defaults.Unit) {
			t.Errorf("%s has the unit %q", p.Title, p.FieldConfig.Defaults.Unit)
		}
	})
}

func TestPanelNoTargetsRule(t *testing.T) {
	lintPanels(t, func(t *testing.T, p panelModel) {
		if len(p.Targets) == 0 {
			t.Errorf("%s asks nothing", p.Title)
		}
		for i, target := range p.Targets {
			if target.RefID != refID(i) || target.Instant == target.Range {
				t.Errorf("%s, query %s: instant %v, range %v", p.Title, target.RefID, target.Instant, target.Range)
			}
			if target.Range && target.LegendFormat == "" {
				t.Errorf("%s, query %s has no legend", p.Title, target.RefID)
			}
		}
	})
}

var selector = regexp.MustCompile(`\b([a-zA-Z_:][a-zA-Z0-9_:]*)\{([^}]*)\}`)

func TestTargetJobAndInstanceRules(t *testing.T) {
	lintPanels(t, func(t *testing.T, p panelModel) {
		for _, target := range p.Targets {
			for _, s := range selector.FindAllStringSubmatch(target.Expr, -1) {
				if !strings.HasPrefix(s[2], `job=~"$job",instance=~"$instance"`) {
					t.Errorf("%s: %s has no job and instance", p.Title, s[0])
				}
			}
		}
	})
}

func TestTargetRateIntervalRule(t *testing.T) {
	ranges := regexp.MustCompile(`\[[^\]]*\]`)
	lintPanels(t, func(t *testing.T, p panelModel) {
		for _, target := range p.Targets {
			for _, r := range ranges.FindAllString(target.Expr, -1) {
				if r != "[$__rate_interval]" {
					t.Errorf("%s looks at %s", p.Title, r)
				}
			}
		}
	})
}

func TestTargetCounterAggRule(t *testing.T) {
	naked := regexp.MustCompile(`(\w+\()?\w+_(total|bucket)\{`)
	lintPanels(t, func(t *testing.T, p panelModel) {
		for _, target := range p.Targets {
			for _, s := range naked.FindAllStringSubmatch(target.Expr, -1) {
				if s[1] != "rate(" && s[1] != "increase(" {
					t.Errorf("%s takes the counter %s as it is", p.Title, s[0])
				}
			}
		}
	})
}

// The rest are our own rules.

func TestUIDsAreOnceAndStable(t *testing.T) {
	var uids []string
	for _, d := range All() {
		uids = append(uids, d.UID)
	}
	want := []string{"pnagent-overview", "pnagent-net", "pnagent-place", "pnagent-sidecar", "pnagent-dispatch"}
	if !slices.Equal(uids, want) {
		t.Errorf("the UIDs are %q; links of people hold %q", uids, want)
	}
}

// A choice of all or of several goes to no variable of one: $__all is the name of no net.
func TestDashboardsLinkEachOtherAndKeepTimeAndChoice(t *testing.T) {
	models := map[string]model{}
	lint(t, func(_ *testing.T, m model) { models[m.UID] = m })
	passed := regexp.MustCompile(`\$\{(\w+):queryparam\}`)
	lint(t, func(t *testing.T, m model) {
		linked := map[string]bool{m.UID: true}
		for _, l := range m.Links {
			path, query, _ := strings.Cut(l.URL, "?")
			to := models[strings.TrimPrefix(path, "/d/")]
			if linked[to.UID] || to.UID == "" || l.Type != "link" || l.IncludeVars || !l.KeepTime {
				t.Errorf("the link is %+v", l)
			}
			linked[to.UID] = true
			var names []string
			for _, found := range passed.FindAllStringSubmatch(query, -1) {
				names = append(names, found[1])
			}
			for _, v := range m.Templating.List {
				there := to.variable(v.Name)
				want := there.Name != "" && (there.Multi || !v.Multi)
				if slices.Contains(names, v.Name) != want {
					t.Errorf("the link to %s passes %s: %v, expected %v", to.Title, v.Name, !want, want)
				}
			}
		}
		if len(linked) != len(models) {
			t.Errorf("it links %d of %d dashboards", len(linked), len(models))
		}
	})
}

func TestDashboardsMarkAlarms(t *testing.T) {
	lint(t, func(t *testing.T, m model) {
		if len(m.Annotations.List) != 1 || !strings.Contains(m.Annotations.List[0]["expr"].(string), metrics.AlarmActive) {
			t.Errorf("the annotations are %v", m.Annotations.List)
		}
	})
}

func TestPanelsFillTheGridWithoutOverlap(t *testing.T) {
	lint(t, func(t *testing.T, m model) {
		taken, ids := map[[2]int]string{}, map[int]bool{}
		for _, p := range m.all() {
			if ids[p.ID] {
				t.Errorf("the id %d is there twice", p.ID)
			}
			ids[p.ID] = true
			g := p.GridPos
			if g.W == 0 || g.H == 0 || g.X+g.W > 24 {
				t.Errorf("%s lies at %+v", p.Title, g)
			}
			for x := g.X; x < g.X+g.W; x++ {
				for y := g.Y; y < g.Y+g.H; y++ {
					if other := taken[[2]int{x, y}]; other != "" {
						t.Fatalf("%s lies on %s", p.Title, other)
					}
					taken[[2]int{x, y}] = p.Title
				}
			}
		}
	})
}

func TestTablesNameTheirColumns(t *testing.T) {
	lintPanels(t, func(t *testing.T, p panelModel) {
		if p.Type != "table" {
			return
		}
		o := p.Transformations[len(p.Transformations)-1].Options
		if !o.ExcludeByName["Time"] {
			t.Errorf("%s shows the time of the query", p.Title)
		}
		for field, title := range o.RenameByName {
			if field == "" || title == "" {
				t.Errorf("%s calls %q %q", p.Title, field, title)
			}
		}
		titles := slices.Collect(maps.Values(o.RenameByName))
		for _, override := range p.FieldConfig.Overrides {
			if !slices.Contains(titles, override.Matcher.Options) {
				t.Errorf("%s formats a column %q that is not there", p.Title, override.Matcher.Options)
			}
		}
	})
}

func TestCellsLeadToDashboardsThatExist(t *testing.T) {
	for _, d := range All() {
		for _, p := range d.Panels() {
			for _, c := range p.Columns {
				to := slices.IndexFunc(All(), func(other Dashboard) bool { return other.UID == c.Link })
				if c.Link == "" {
					continue
				}
				if to < 0 || !slices.ContainsFunc(All()[to].Variables, func(v Variable) bool { return v.Name == c.Label }) {
					t.Errorf("%s, %s: a click on %s opens %q, which has no variable %s", d.Title, p.Title, c.Title, c.Link, c.Label)
				}
			}
		}
	}
}

// TestExpressionsUseFamiliesAndLabelsThatExist holds every selector against
// metrics.Families.
func TestExpressionsUseFamiliesAndLabelsThatExist(t *testing.T) {
	labels := map[string][]string{}
	for _, f := range metrics.Families() {
		names := []string{f.Name}
		if f.Type == metrics.Histogram {
			names = append(names, f.Name+"_bucket")
		}
		for _, name := range names {
			labels[name] = append([]string{"job", "instance"}, f.Labels...)
		}
	}
	matcher := regexp.MustCompile(`(\w+)(?:=~|!~|!=|=)"`)
	check := func(what, expr string) {
		for _, s := range selector.FindAllStringSubmatch(expr, -1) {
			known, ours := labels[s[1]]
			if !ours {
				if strings.HasPrefix(s[1], "petrinet_") {
					t.Errorf("%s: there is no family %s", what, s[1])
				}
				continue
			}
			for _, l := range matcher.FindAllStringSubmatch(s[2], -1) {
				if !slices.Contains(known, l[1]) {
					t.Errorf("%s: %s has no label %s", what, s[1], l[1])
				}
			}
		}
	}
	for _, d := range All() {
		for _, p := range d.Panels() {
			for _, q := range p.Queries {
				check(d.Title+", "+p.Title, q.Expr)
			}
		}
	}
	for _, a := range Alerts(DefaultJob) {
		check(a.Name, a.Expr())
	}
}
