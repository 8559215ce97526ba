// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/pnagent/pnagent/dashboards"
	"github.com/pnagent/pnagent/dashboards/report/plot"
	"github.com/pnagent/pnagent/internal/promquery"
	"github.com/pnagent/pnagent/metrics"
)

// all is a regular expression for whatever there is.
const all = ".+"

// drawing is the state of one report from Prometheus.
type drawing struct {
	Prometheus
	o      Options
	from   time.Time
	scrape time.Duration
	boards []dashboards.Dashboard
	nets   []netState // the worst first
	alarms []alarm
	called map[[3]string]string // by net, kind and id
	jobs   []job
}

// netState is what nets are ordered by.
type netState struct {
	id, name   string // the name may be empty
	alarms     int    // that are known to hold and follow from no lost source
	unknown    int    // of the others: those that follow from no lost source
	following  int    // from a lost source
	deadlocked float64
	oldest     float64 // age in seconds, NaN without a token
	place      string  // of the oldest token
	words      string  // what that is called
}

// title is what the report calls the net.
func (n *netState) title() string { return cmp.Or(n.name, n.id) }

// job is one panel to draw.
type job struct {
	panel dashboards.Panel
	vars  dashboards.Variables
	into  *Figure
}

// Report asks for everything that the dashboards show, and draws it. The error
// is ErrNothing where nothing was had, ErrNoNet where the net is not known.
func (p Prometheus) Report(ctx context.Context, o Options) (*Report, error) {
	o.Now = o.Now.Truncate(time.Second) // so that points are where their times say
	d := &drawing{Prometheus: p, o: o, from: o.Now.Add(-o.Since), boards: dashboards.All()}
	var err error
	d.scrape, err = p.server().Interval(ctx, metrics.PnagentBuildInfo, min(o.Since, time.Hour), o.Now)
	if err != nil {
		return nil, err
	}
	r := &Report{From: d.from, To: o.Now, Source: "Prometheus at " + p.Name}
	if err := d.look(ctx); err != nil {
		return nil, err
	}
	d.lay(r)
	if err := d.draw(ctx); err != nil {
		return nil, err
	}
	if !anything(r) {
		return nil, fmt.Errorf("%w: Prometheus has no series of pnagent between %s and now", ErrNothing, plot.Clock(d.from, o.Now))
	}
	oldest, err := d.oldest(ctx)
	if err != nil {
		oldest = &Figure{Title: "Oldest tokens now", Size: "half", Fault: err.Error()}
	}
	summarise(r, d.nets, d.alarms, oldest)
	r.Notes = append(r.Notes, d.notes()...)
	return r, nil
}

// anything reports whether a figure shows something that was measured.
func anything(r *Report) bool {
	for _, s := range r.Sections {
		for _, part := range s.Parts {
			if slices.ContainsFunc(part.Figures, func(f *Figure) bool { return f.drawn() && f.Picture != "" }) {
				return true
			}
		}
	}
	return false
}

func (d *drawing) notes() []string {
	notes := []string{fmt.Sprintf("Sidecars are scraped every %s: shorter events are not visible. Lines have a value every %s; times of alarms are accurate to %s.",
		plot.Format("s", d.scrape.Seconds()), plot.Format("s", d.step(120).Seconds()), plot.Format("s", d.step(2000).Seconds()))}
	if len(d.nets) > maxNets {
		notes = append(notes, fmt.Sprintf("Only the %d worst of %d nets have plots; --net selects another.", maxNets, len(d.nets)))
	}
	return notes
}

// step returns a round time between a number of values, not shorter than the interval of
// the data.
func (d *drawing) step(points int) time.Duration {
	least := max(d.o.Since/time.Duration(points), d.scrape)
	for _, seconds := range []int{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200} {
		if step := time.Duration(seconds) * time.Second; step >= least {
			return step
		}
	}
	return least.Round(time.Hour) + time.Hour
}

// vars are what the expressions of a dashboard are about.
func (d *drawing) vars(net, place string, step time.Duration) dashboards.Variables {
	window := max(step+d.scrape, 4*d.scrape)
	return dashboards.Variables{"job": all, "instance": all, "net": net, "place": place, "__rate_interval": promquery.Duration(window)}
}

// anyNet is for dashboards of several nets.
func (d *drawing) anyNet() string {
	if d.o.Net == "" {
		return all
	}
	return regexp.QuoteMeta(d.o.Net)
}

// look asks which nets there are and how they are, and when alarms were active.
func (d *drawing) look(ctx context.Context) error {
	d.o.progress(0, 0, "reading the list of nets")
	names, err := d.at(ctx, "count by (net) (last_over_time("+metrics.Instances+"["+promquery.Duration(d.o.Since)+"])) or "+
		"count by (net) (last_over_time("+metrics.PlaceTokens+"["+promquery.Duration(d.o.Since)+"]))", d.o.Now)
	if err != nil {
		return err
	}
	for _, s := range names.series {
		if id := s.labels["net"]; id != "" && (d.o.Net == "" || d.o.Net == id) {
			d.nets = append(d.nets, netState{id: id, oldest: math.NaN()})
		}
	}
	if d.o.Net != "" && len(d.nets) == 0 {
		return fmt.Errorf("%w: Prometheus has no data for %q since %s", ErrNoNet, d.o.Net, plot.Clock(d.from, d.o.Now))
	}
	if d.alarms, err = d.activeAlarms(ctx); err != nil {
		return err
	}
	if err := d.rank(ctx); err != nil {
		return err
	}
	return d.names(ctx)
}

// rank orders the nets: by alarms that are active, by deadlocked instances, by
// the age of the oldest token.
func (d *drawing) rank(ctx context.Context) error {
	index := map[string]*netState{}
	for i := range d.nets {
		index[d.nets[i].id] = &d.nets[i]
	}
	for _, a := range d.alarms {
		switch n := index[a.labels["net"]]; {
		case n == nil || !a.active:
		case a.follows != "":
			n.following++
		case a.unknown != "":
			n.unknown++
		default:
			n.alarms++
		}
	}
	deadlocked, err := d.at(ctx, "max by (net) ("+metrics.Instances+`{state="deadlocked"})`, d.o.Now)
	if err != nil {
		return err
	}
	for _, s := range deadlocked.series {
		if n := index[s.labels["net"]]; n != nil && len(s.points) == 1 {
			n.deadlocked = s.points[0].Value
		}
	}
	oldest, err := d.at(ctx, "topk by (net) (1, max by (net, place) ("+dashboards.Waiting(metrics.PlaceOldestTokenAgeSeconds, "")+"))", d.o.Now)
	if err != nil {
		return err
	}
	for _, s := range oldest.series {
		if n := index[s.labels["net"]]; n != nil && len(s.points) == 1 {
			n.oldest, n.place = s.points[0].Value, s.labels["place"]
		}
	}
	slices.SortFunc(d.nets, worse)
	return nil
}

// names asks what the places and transitions of processes of BPMN are called.
func (d *drawing) names(ctx context.Context) error {
	d.called = map[[3]string]string{}
	for family, kind := range map[string]string{metrics.PlaceInfo: "place", metrics.TransitionInfo: "transition"} {
		a, err := d.at(ctx, fmt.Sprintf("max by (net, %s, called) (%s{net=~%q})", kind, family, d.anyNet()), d.o.Now)
		if err != nil {
			return err
		}
		for _, s := range a.series {
			d.called[[3]string{s.labels["net"], kind, s.labels[kind]}] = s.labels["called"]
		}
	}
	for i := range d.nets {
		d.nets[i].words = d.title(d.nets[i].id, "place", d.nets[i].place)
	}
	for i := range d.alarms {
		a := &d.alarms[i]
		a.title = cmp.Or(d.title(a.labels["net"], "place", a.labels["place"]), d.title(a.labels["net"], "transition", a.labels["transition"]))
	}
	return nil
}

// title returns what a place or a transition is called, or its id.
func (d *drawing) title(net, kind, id string) string {
	return cmp.Or(d.called[[3]string{net, kind, id}], id)
}

// worse orders nets, the worst first.
func worse(a, b netState) int {
	return cmp.Or(cmp.Compare(b.alarms, a.alarms), cmp.Compare(b.deadlocked, a.deadlocked), cmp.Compare(b.unknown+b.following, a.unknown+a.following), cmp.Compare(b.oldest, a.oldest), cmp.Compare(a.id, b.id))
}

// lay makes the sections with empty figures, and the jobs that fill them.
func (d *drawing) lay(r *Report) {
	var general []Section
	var one, spot *dashboards.Dashboard
	for i := range d.boards {
		b := &d.boards[i]
		switch {
		case has(b, "place", false):
			spot = b
		case has(b, "net", false):
			one = b
		default:
			title := strings.TrimPrefix(b.Title, "pnagent / ")
			general = append(general, Section{ID: "s-" + b.UID, Title: title, About: b.Description, Parts: d.parts(b, "", d.anyNet(), "")})
		}
	}
	r.Sections = append(r.Sections, general[0])
	for i, n := range d.nets[:min(len(d.nets), maxNets)] {
		s := n.section(i)
		s.Parts = d.parts(one, "", n.id, "")
		if n.place != "" {
			s.Parts = append(s.Parts, d.parts(spot, "Oldest place, "+n.words+": ", n.id, n.place)...)
		}
		r.Sections = append(r.Sections, s)
	}
	r.Sections = append(r.Sections, general[1:]...)
}

// has reports whether a dashboard has a variable, of one value or of several.
func has(b *dashboards.Dashboard, name string, multi bool) bool {
	return slices.ContainsFunc(b.Variables, func(v dashboards.Variable) bool { return v.Name == name && v.Multi == multi })
}

// section is that of the i-th net.
func (n *netState) section(i int) Section {
	s := Section{ID: netAnchor(i), Title: "Net " + n.title(), Mark: "calm"}
	switch {
	case n.alarms > 0 || n.deadlocked > 0:
		s.Mark = "burnt"
		s.About = fmt.Sprintf("%s active%s, %s deadlocked.", count(n.alarms, "alarm"), besides(n.unknown, n.following), count(int(n.deadlocked), "instance"))
	case n.unknown+n.following > 0:
		s.Mark = ""
		s.About = "No alarm is known to hold" + besides(n.unknown, n.following) + "."
	default:
		s.About = "No alarm is active."
	}
	if !math.IsNaN(n.oldest) && n.place != "" {
		s.About += fmt.Sprintf(" The oldest token has been in %s for %s.", cmp.Or(n.words, n.place), plot.Format("s", n.oldest))
	}
	return s
}

func netAnchor(i int) string { return fmt.Sprintf("net-%d", i+1) }

func (d *drawing) parts(b *dashboards.Dashboard, prefix, net, place string) []Part {
	parts := make([]Part, 0, len(b.Rows))
	for _, row := range b.Rows {
		part := Part{Title: prefix + row.Title}
		for _, panel := range row.Panels {
			f := &Figure{Title: panel.Title, About: unclickable(panel.Description), Size: size(&panel)}
			part.Figures = append(part.Figures, f)
			d.jobs = append(d.jobs, job{panel, d.vars(net, place, d.step(points(&panel))), f})
		}
		parts = append(parts, part)
	}
	return parts
}

// unclickable leaves out what a description says of clicks: paper has none.
func unclickable(text string) string {
	before, _, _ := strings.Cut(text, " A click on ")
	return before
}

// size is the class of how wide a panel is.
func size(p *dashboards.Panel) string {
	switch {
	case p.Kind == dashboards.Stat:
		return "stat"
	case p.Width <= 8 && p.Kind != dashboards.Table:
		return "third"
	case p.Width <= 14 && len(p.Columns) <= 7:
		return "half"
	}
	return "whole"
}

// points is how many values a panel has room for.
func points(p *dashboards.Panel) int {
	switch {
	case p.Kind == dashboards.Stat:
		return 60
	case p.Width > 12:
		return 240
	}
	return 120
}

// draw does the jobs, some at once. What fails is said in the figure; only the
// end of ctx ends it.
func (d *drawing) draw(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	var mu sync.Mutex
	done := 0
	for _, j := range d.jobs {
		g.Go(func() error {
			d.fill(ctx, &j)
			mu.Lock()
			defer mu.Unlock()
			done++
			d.o.progress(done, len(d.jobs), "drawing "+j.panel.Title)
			return ctx.Err()
		})
	}
	return g.Wait()
}

// fill asks the queries of a panel and draws what comes.
func (d *drawing) fill(ctx context.Context, j *job) {
	answers := make([]*answer, len(j.panel.Queries))
	var faults []error
	for i, q := range j.panel.Queries {
		expr := j.vars.Expand(q.Expr)
		var err error
		if j.panel.Instant() {
			answers[i], err = d.at(ctx, expr, d.o.Now)
		} else {
			answers[i], err = d.over(ctx, expr, d.from, d.o.Now, d.step(points(&j.panel)))
		}
		if err != nil {
			answers[i] = &answer{}
			faults = append(faults, fmt.Errorf("query %s: %w", q.Legend, err))
		}
		for _, w := range answers[i].warnings {
			if len(j.into.Notes) < maxStats && !slices.Contains(j.into.Notes, w) {
				j.into.Notes = append(j.into.Notes, w)
			}
		}
	}
	if len(faults) == len(answers) && len(faults) > 0 {
		j.into.Fault = faults[0].Error()
		return
	}
	for _, f := range faults {
		j.into.Notes = append(j.into.Notes, "Missing: "+f.Error())
	}
	d.figure(j, answers)
}

// aboutOldest is said of lists of the oldest tokens.
const aboutOldest = "Places in which tokens stay on purpose are left out: final places, where a net ends, and those for which the rules for alarms turn tokenStuck off."

// oldest are the oldest tokens of all nets.
func (d *drawing) oldest(ctx context.Context) (*Figure, error) {
	a, err := d.at(ctx, fmt.Sprintf("topk(%d, max by (net, place) (%s))", maxLines,
		dashboards.Waiting(fmt.Sprintf("%s{net=~%q}", metrics.PlaceOldestTokenAgeSeconds, d.anyNet()), "")), d.o.Now)
	if err != nil {
		return nil, errors.Join(errors.New("cannot find the oldest tokens"), err)
	}
	f := &Figure{Title: "Oldest tokens now", Size: "half", About: aboutOldest}
	var rows []oldPlace
	for _, s := range a.series {
		if len(s.points) == 1 && s.points[0].Value > 0 {
			rows = append(rows, oldPlace{s.labels["net"], d.title(s.labels["net"], "place", s.labels["place"]), s.points[0].Value})
		}
	}
	f.list(rows, d.nets, d.o.Now)
	return f, nil
}
