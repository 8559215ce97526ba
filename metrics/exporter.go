// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	dto "github.com/prometheus/client_model/go"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
)

// The defaults of Config.
const (
	DefaultSeriesBudget  = 50_000
	DefaultMaxScrapes    = 10
	DefaultScrapeTimeout = 10 * time.Second
)

// Config is the configuration of an Exporter.
type Config struct {
	View func() *merge.View // returns the newest View, or nil before the first
	Now  func() time.Time   // nil is time.Now
	// Ready returns why the sidecar cannot work, or nil. Without a View it is not
	// ready in any case. A nil function is always ready.
	Ready func() error
	// Notes returns what a user may miss although the sidecar is ready, one sentence each.
	// A nil function has none.
	Notes func() []string
	// Reload reads the configuration again, or returns an error and changes
	// nothing. It is nil without a configuration.
	Reload func() error
	// Alarms returns the active alarms, and AlarmCounters counts their handling;
	// nil functions show no alarms.
	Alarms        func() *alarm.ActiveSet
	AlarmCounters func() alarm.Counters
	SeriesBudget  int // series a net may have; 0 is DefaultSeriesBudget
	// CreatedSamples adds _created lines to OpenMetrics text, which Prometheus stores as
	// series of their own. Protobuf has created timestamps in any case.
	CreatedSamples bool
	MaxScrapes     int           // scrapes under way at once; 0 is DefaultMaxScrapes
	ScrapeTimeout  time.Duration // 0 is DefaultScrapeTimeout
	Version        string        // of pnagent, for pnagent_build_info and the landing page
	Revision       string        // of the source code
	// Collectors are shown at /metrics and /metrics/self. The names of their
	// families must differ from those of Families.
	Collectors []prometheus.Collector
	Mounts     []Mount
	Log        *slog.Logger // nil logs nothing
}

// Mount is a page of another package that is served besides the metrics.
type Mount struct {
	Pattern     string // of http.ServeMux
	Handler     http.Handler
	Link        string // target on the landing page; "" for no link
	Text        string // of the link
	Description string // beside the link
}

// Exporter shows Views as metric families. It keeps them between scrapes.
type Exporter struct {
	cfg      Config
	registry *prometheus.Registry // of everything not made from a View
	families []Family
	fixed    *fixedLabels
	build    []*dto.LabelPair
	slots    chan struct{}
	refused  atomic.Uint64
	answers  answers
	reloads  reloads
	answered atomic.Pointer[size] // of the last complete answer; nil before the first
	bodies   sync.Pool            // of *body
	zips     sync.Pool            // of *gzip.Writer

	// mu is held from the beginning of a scrape until it is encoded.
	mu       sync.Mutex
	messages messageForm
	texts    [2]*textForm // by textForm.open
	view     *merge.View
	alarms   *alarm.ActiveSet
	byName   map[string]*netSeries
	nets     []*netSeries // those of view, then those with sources only
	sidecar  *netSeries   // series of no net
}

// New returns an Exporter. It returns an error for Collectors that cannot be
// registered.
func New(cfg Config) (*Exporter, error) {
	if view := cfg.View; view != nil {
		cfg.View = func() *merge.View { return view().Present() }
	}
	if cfg.View == nil {
		return nil, errors.New("metrics: expected a function View")
	}
	cfg.setDefaults()
	e := &Exporter{
		cfg:      cfg,
		registry: prometheus.NewRegistry(),
		families: Families(),
		fixed:    newFixedLabels(),
		build:    []*dto.LabelPair{pair("version", cfg.Version), pair("revision", cfg.Revision), pair("goversion", runtime.Version())},
		slots:    make(chan struct{}, cfg.MaxScrapes),
		byName:   make(map[string]*netSeries),
	}
	e.reloads.at = cfg.Now().UnixMicro()
	e.sidecar = &netSeries{series: make([]series, len(e.families))}
	e.messages.shown = shownFamilies(e.families)
	for i := range e.texts {
		e.texts[i] = newTextForm(e.families, i == 1, cfg.CreatedSamples)
	}
	own := []prometheus.Collector{collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})}
	for _, c := range append(own, cfg.Collectors...) {
		if err := e.registry.Register(c); err != nil {
			return nil, fmt.Errorf("metrics: register a collector: %w", err)
		}
	}
	return e, nil
}

func (cfg *Config) setDefaults() {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Notes == nil {
		cfg.Notes = func() []string { return nil }
	}
	if cfg.Ready == nil {
		cfg.Ready = func() error { return nil }
	}
	if cfg.Alarms == nil {
		cfg.Alarms = func() *alarm.ActiveSet { return nil }
	}
	cfg.SeriesBudget = cmp.Or(max(cfg.SeriesBudget, 0), DefaultSeriesBudget)
	cfg.MaxScrapes = cmp.Or(max(cfg.MaxScrapes, 0), DefaultMaxScrapes)
	cfg.ScrapeTimeout = cmp.Or(max(cfg.ScrapeTimeout, 0), DefaultScrapeTimeout)
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
}

// target is what a scrape requests.
type target struct {
	net         string // this net, or
	allNets     bool
	sidecar     bool
	openMetrics bool // the names of families must differ also without suffixes
}

// gatherer passes the families of a target to promhttp, which calls done once they
// are encoded.
type gatherer struct {
	*Exporter
	target target
}

// Gatherer returns everything that /metrics has.
func (e *Exporter) Gatherer() prometheus.TransactionalGatherer {
	return gatherer{e, target{allNets: true, sidecar: true}}
}

// Gather implements prometheus.TransactionalGatherer. It omits families without a
// series.
func (g gatherer) Gather() (_ []*dto.MetricFamily, done func(), err error) {
	e := g.Exporter
	others, err := e.others(g.target)
	e.mu.Lock()
	handedOver := false
	defer func() {
		if !handedOver { // a panic must not block every later scrape
			e.mu.Unlock()
		}
	}()
	e.messages.out = e.messages.out[:0]
	e.read(g.target, &e.messages, nil)
	e.messages.out = append(e.messages.out, others...)
	handedOver = true
	return e.messages.out, e.mu.Unlock, err
}

// others returns the families that are not made from a View.
func (e *Exporter) others(t target) (families []*dto.MetricFamily, err error) {
	if t.sidecar {
		families, err = e.registry.Gather()
	}
	if t.openMetrics {
		parted(families)
	}
	return families, err
}

// form is what the families of a scrape are read into.
type form interface {
	// begin starts the family with this number, and end completes it: one without a series
	// is left out.
	begin(family int)
	end()
	// read reads the family's series of one net and returns their number. drop takes the
	// last ones away again.
	read(s *scrape, n *netSeries, family *Family) int
	drop()
}

// read reads the families of a target. text is out if that is text. The caller holds e.mu.
func (e *Exporter) read(t target, out form, text *textForm) {
	s := e.begin()
	s.text = text
	s.everything = t.allNets && t.sidecar
	e.readNets(s, t, out)
	if t.sidecar {
		e.readSidecar(s, out)
	}
}

// begin updates the series to the newest View.
func (e *Exporter) begin() *scrape {
	view, alarms := e.cfg.View(), e.cfg.Alarms()
	if view != nil && (view != e.view || alarms != e.alarms) {
		e.follow(view, alarms)
	}
	s := &scrape{now: e.cfg.Now().UnixMicro(), view: view, fixed: e.fixed, build: e.build, nets: e.nets, refused: e.refused.Load(), answered: e.answered.Load()}
	s.reloaded, s.reloadedAt = e.lastReload()
	s.alarmsKnown = e.alarms != nil && !e.alarms.Settling
	if e.cfg.AlarmCounters != nil {
		s.alarmCounters = new(e.cfg.AlarmCounters())
	}
	return s
}

// follow takes the nets of a View and of the alarms, and drops the others. Alarms
// about sources belong to the net "".
func (e *Exporter) follow(view *merge.View, state *alarm.ActiveSet) {
	sources := make(map[string][]*merge.Source)
	var names []string
	nets := make(map[string]*merge.NetView, len(view.Nets))
	for _, net := range view.Nets {
		nets[net.Name] = net
		names = append(names, net.Name)
	}
	for i := range view.Sources {
		src := &view.Sources[i]
		if _, known := sources[src.Net]; !known && nets[src.Net] == nil {
			names = append(names, src.Net)
		}
		sources[src.Net] = append(sources[src.Net], src)
	}
	alarms := alarmsByNet(state)
	for _, net := range slices.Sorted(maps.Keys(alarms)) {
		if nets[net] == nil && sources[net] == nil {
			names = append(names, net)
		}
	}
	if nets[""] == nil && sources[""] == nil && alarms[""] == nil {
		names = append(names, "") // of alarms that belong to no net, also while there are none
	}
	before := e.byName
	e.view, e.alarms, e.nets, e.byName = view, state, e.nets[:0], make(map[string]*netSeries, len(names))
	for _, name := range names {
		n := before[name]
		if n == nil {
			n = &netSeries{name: name, labels: newNetLabels(name), series: make([]series, len(e.families))}
		}
		n.follow(nets[name], sources[name])
		n.followAlarms(alarms[name])
		var resting []int
		if n.net != nil {
			resting = state.RestingOf(n.net)
		}
		if !slices.Equal(n.resting, resting) {
			n.resting = resting
			n.version++
		}
		e.byName[name] = n
		e.nets = append(e.nets, n)
	}
}

// readNets reads the families of the nets of a target, within the budget of
// each.
func (e *Exporter) readNets(s *scrape, t target, out form) {
	var nets []*netSeries
	if t.allNets {
		nets = e.nets
	} else if n := e.byName[t.net]; n != nil { // of the sidecar alone: alarms that belong to no net
		nets = []*netSeries{n}
	}
	left := make([]int, len(nets))
	for i := range left {
		left[i] = e.cfg.SeriesBudget
	}
	for i := range e.families {
		f := &e.families[i]
		if f.scope == ofSidecar {
			continue
		}
		out.begin(i)
		for j, n := range nets {
			if !n.has(f) {
				continue
			}
			s.netSeries = n
			cost := out.read(s, n, f) * e.seriesOf(f)
			if f.Name == AlarmActive {
				n.alarmsMissing = cost > left[j]
			}
			if cost > left[j] {
				n.dropped += uint64(cost)
				out.drop()
				continue
			}
			left[j] -= cost
		}
		out.end()
	}
	s.netSeries = nil
}

// seriesOf returns how many series Prometheus stores for each series of a family.
func (e *Exporter) seriesOf(f *Family) int {
	n := 1
	if f.Type == Histogram {
		n = classicSeries
	}
	if e.cfg.CreatedSamples && f.Type != Gauge && f.scope == ofRows {
		n++
	}
	return n
}

func (e *Exporter) readSidecar(s *scrape, out form) {
	for i := range e.families {
		if f := &e.families[i]; f.scope == ofSidecar {
			out.begin(i)
			out.read(s, e.sidecar, f)
			out.end()
		}
	}
}
