// SPDX-License-Identifier: Apache-2.0

package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/collector/history"
	"github.com/pnagent/pnagent/internal/httpserver"
	"github.com/pnagent/pnagent/metrics"
	"github.com/pnagent/pnagent/mib"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/top"
	"github.com/pnagent/pnagent/web"
	"github.com/pnagent/pnagent/web/api"
)

// noon is the time of the View and of every face that shows it.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// view is of one net in which every number is another one.
func view() *collector.View {
	rows := stats.NewRows(2, 1)
	rows.Columns = stats.AllColumns
	def := &petri.Net{ID: "net", Places: []petri.Place{{ID: "p0"}, {ID: "p1"}}, Transitions: []petri.Transition{{ID: "t0"}},
		Arcs: []petri.Arc{{Source: "p0", Target: "t0", Weight: 1}, {Source: "p1", Target: "t0", Weight: 1}}}
	before := func(seconds int64) int64 { return noon.UnixMicro() - seconds*1e6 }
	for i := range rows.Places {
		n := uint64(i)
		p := &rows.Places[i]
		*p = stats.Place{Tokens: 10 + n, Arrivals: 100 + n, Departures: 90 + n, Instances: 3 + n, Oldest: before(1200 - 60*int64(n)), LastInjection: before(2)}
		for k := range int64(10 + n) {
			p.Injected.Add(before(30 * (k + 1)))
			p.Ages.Add(before(30*(k+1)), noon.UnixMicro(), 1)
		}
		p.Dwell.Observe(4e6)
	}
	rows.Transitions[0] = stats.Transition{Firings: 51, Enabled: 6, EnabledSince: before(75), Running: 8, RunningSince: before(95), Failures: 12, Retries: 13,
		Cancels: 14, Timeouts: 15, Late: 16, LastFiring: before(5)}
	rows.Transitions[0].Duration.Observe(3e6)
	rows.Net = stats.NetRow{Created: 40, Finished: 21, Failed: 22, Active: 23, Deadlocked: 24}
	rows.Waiting = 25
	rows.Queues = []stats.Queue{{Priority: 3, Ready: 26, OldestSince: before(27), UnservedSince: before(28), Served: 29, QuoteSwitches: 30}}
	rows.Blocks = []stats.Block{{Transition: 0, Place: 1, Reason: stats.ReasonMissing, Instances: 31}}
	position, standbys, lag := uint64(32), uint64(33), uint64(34)
	v := (&collector.View{At: noon.UnixMicro(), Generation: 35, Nets: []*collector.NetView{{Name: "net", Def: def, Final: def.FinalPlaces(), Rows: rows, Up: 36, Stale: 37,
		Digests: []collector.Digest{{Digest: "d", Sources: 1}}}},
		Sources: []collector.Source{{Name: "s", Net: "net", State: collector.Up, Region: "r", Fence: 38, Position: &position, Standbys: &standbys, Lag: &lag,
			LastMessage: before(39), Interval: 2 * time.Second, Skew: 3 * time.Second, Gaps: 41, Duplicates: 42, Restarts: 43, Setbacks: 44}},
		Traffic: collector.Traffic{Messages: 1001, Bytes: 1002, Lost: 1003, Rejected: map[string]uint64{"bad_name": 7}}, MessageRate: 1004}).Sum()
	v.Nets[0].Rates = &collector.Rates{Firings: collector.Rate{Now: 2.5, Min1: 2.25, Min5: 2.125, Min15: 2.0625}, Finished: 0.5,
		Transitions: []collector.Rate{{Now: 3.5, Min1: 3.25, Min5: 3.125, Min15: 3.0625}}, Arrivals: []float64{4.5, 4.25}, Departures: []float64{5.5, 5.25}}
	return v
}

// faces are the live page, mounted as the sidecar does, and its Run.
func faces(t *testing.T, v *collector.View) (http.Handler, *web.Server) {
	t.Helper()
	shown := func() *collector.View { return v }
	views := make(chan *collector.View, 1)
	views <- v
	live, err := web.New(web.Config{Views: views, Now: func() time.Time { return noon }, History: history.New(history.Config{})})
	if err != nil {
		t.Fatal(err)
	}
	exporter, err := metrics.New(metrics.Config{View: shown, Now: func() time.Time { return noon }, Mounts: []metrics.Mount{{Pattern: "/", Handler: live.Handler(), Link: "index.html", Text: "Live"}}})
	if err != nil {
		t.Fatal(err)
	}
	return exporter.Handler(), live
}

func get(h http.Handler, path string) string {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Body.String()
}

// number is one that several faces show: the field of the JSON of a View, which
// frames of the page and overviews have under the same name, the object of
// PETRINET-MIB, the metric, and the column of top. A face that does not show it
// has "".
type number struct{ field, object, metric, column string }

// numbers are all of a View that two faces show, by what they are about.
func numbers() map[string][]number {
	return map[string][]number{
		"agent": {
			{"generation", "agentViews", "pnagent_view_generation", ""}, {"source_states.up", "agentSourcesUp", `pnagent_sources{state="up"}`, ""},
			{"source_states.stale", "agentSourcesStale", `pnagent_sources{state="stale"}`, ""}, {"source_states.gone", "agentSourcesGone", `pnagent_sources{state="gone"}`, ""},
			{"source_states.undefined", "agentSourcesUndefined", `pnagent_sources{state="undefined"}`, ""}, {"source_states.refused", "agentSourcesRefused", `pnagent_sources{state="refused"}`, ""},
			{"traffic.messages", "agentMessagesReceived", "pnagent_messages_total", ""}, {"traffic.bytes", "agentBytesReceived", "pnagent_bytes_total", ""},
			{"traffic.lost", "agentMessagesLost", "pnagent_messages_lost_total", ""}, {"traffic.rejected_total", "agentMessagesBad", `pnagent_messages_rejected_total{reason="bad_name"}`, ""},
		},
		"net": {
			{"tokens", "netTokens", "", "TOKENS"}, {"oldest_age_seconds", "netOldestAge", "", "OLDEST"}, {"firings", "netFirings", "", ""}, {"rate", "", "", "FIRED/S"},
			{"rate_1m", "netRate1", "", ""}, {"rate_5m", "netRate5", "", ""}, {"rate_15m", "netRate15", "", ""}, {"finished_rate", "", "", "DONE/S"},
			{"instances.active", "netActiveInstances", `petrinet_instances{net="net",state="active"}`, "ACTIVE"},
			{"instances.deadlocked", "netDeadlockedInstances", `petrinet_instances{net="net",state="deadlocked"}`, "DEADLOCK"},
			{"instances.created", "netCreatedInstances", "petrinet_instances_created_total", ""}, {"instances.finished", "netFinishedInstances", "petrinet_instances_finished_total", ""},
			{"instances.failed", "netFailedInstances", "petrinet_instances_failed_total", "FAILED"}, {"waiting", "netWaitingWork", "petrinet_queue_waiting", "WAITING"},
			{"sources_up", "netSourcesUp", "", "UP"}, {"sources_stale", "netSourcesStale", "", "STALE"},
		},
		"place": {
			{"tokens", "placeTokens", "petrinet_place_tokens", "TOKENS"}, {"instances", "placeInstances", "petrinet_place_instances", ""},
			{"oldest_age_seconds", "placeOldestAge", "petrinet_place_oldest_token_age_seconds", "OLDEST"}, {"mean_age_seconds", "placeMeanAge", "", "MEAN"},
			{"arrivals", "placeArrivals", "petrinet_place_arrivals_total", ""}, {"departures", "placeDepartures", "petrinet_place_departures_total", ""},
			{"arrival_rate", "", "", "IN/S"}, {"departure_rate", "", "", "OUT/S"},
			{"older_than.1s", "placeOlderThan1s", `petrinet_place_tokens_older_than{age="1s"}`, ""}, {"older_than.10s", "placeOlderThan10s", `petrinet_place_tokens_older_than{age="10s"}`, ""},
			{"older_than.1m", "placeOlderThan1m", `petrinet_place_tokens_older_than{age="1m"}`, ">1m"}, {"older_than.10m", "placeOlderThan10m", `petrinet_place_tokens_older_than{age="10m"}`, ""},
			{"older_than.1h", "placeOlderThan1h", `petrinet_place_tokens_older_than{age="1h"}`, ">1h"}, {"older_than.6h", "placeOlderThan6h", `petrinet_place_tokens_older_than{age="6h"}`, ""},
			{"older_than.1d", "placeOlderThan1d", `petrinet_place_tokens_older_than{age="1d"}`, ""}, {"older_than.7d", "placeOlderThan7d", `petrinet_place_tokens_older_than{age="7d"}`, ""},
			{"dwell.p50", "placeDwellP50", "", ""}, {"dwell.p95", "placeDwellP95", "", "P95"}, {"dwell.p99", "placeDwellP99", "", ""},
			{"dwell.count", "", "petrinet_place_dwell_seconds_count", ""}, {"dwell.sum", "", "petrinet_place_dwell_seconds_sum", ""},
		},
		"transition": {
			{"firings", "transitionFirings", "petrinet_transition_firings_total", "FIRINGS"}, {"rate", "", "", "FIRED/S"},
			{"rate_1m", "transitionRate1", "", ""}, {"rate_5m", "transitionRate5", "", ""}, {"rate_15m", "transitionRate15", "", ""},
			{"enabled", "transitionEnabled", "petrinet_transition_enabled_instances", "ENABLED"}, {"enabled_age_seconds", "transitionEnabledAge", "petrinet_transition_enabled_age_seconds", "SINCE"},
			{"running", "transitionRunning", "petrinet_transition_running", "RUNNING"}, {"running_age_seconds", "transitionRunningAge", "petrinet_transition_running_age_seconds", "LONGEST"},
			{"failures", "transitionFailures", "petrinet_transition_failures_total", "FAILED"}, {"retries", "transitionRetries", "petrinet_transition_retries_total", "RETRIED"},
			{"cancels", "transitionCancels", "petrinet_transition_cancels_total", ""}, {"timeouts", "transitionTimeouts", "petrinet_transition_timeouts_total", ""},
			{"late_answers", "transitionLateAnswers", "petrinet_transition_late_answers_total", ""}, {"blocked", "blockInstances", "petrinet_transition_blocked_instances", ""},
			{"duration.p50", "transitionDurationP50", "", ""}, {"duration.p95", "transitionDurationP95", "", "P95"}, {"duration.p99", "transitionDurationP99", "", ""},
			{"duration.count", "", "petrinet_transition_duration_seconds_count", ""}, {"duration.sum", "", "petrinet_transition_duration_seconds_sum", ""},
		},
		"queue": {
			{"ready", "queueReady", "petrinet_queue_ready", ""}, {"oldest_age_seconds", "queueOldestAge", "petrinet_queue_oldest_age_seconds", ""},
			{"unserved_age_seconds", "queueUnservedAge", "petrinet_queue_unserved_age_seconds", ""}, {"served", "queueServed", "petrinet_queue_served_total", ""},
			{"quote_switches", "queueQuoteSwitches", "petrinet_queue_quote_switches_total", ""},
		},
		"source": {
			{"last_heard_age_seconds", "sourceSilence", "petrinet_source_last_snapshot_age_seconds", "SILENT"}, {"interval_seconds", "sourceInterval", "", "EVERY"},
			{"skew_seconds", "sourceSkew", "", "SKEW"}, {"gaps", "sourceGaps", "petrinet_source_gaps_total", "GAPS"}, {"duplicates", "sourceDuplicates", "", "TWICE"},
			{"restarts", "sourceRestarts", "", "RESTARTS"}, {"fence", "sourceRegionEpoch", "petrinet_region_epoch", ""}, {"setbacks", "sourceRegionSetbacks", "petrinet_region_setbacks_total", ""},
			{"position", "sourceRegionPosition", "petrinet_region_commits_total", ""}, {"standbys", "sourceRegionStandbys", "petrinet_region_standbys", ""},
			{"lag", "sourceRegionLag", "petrinet_region_lag_commits", ""},
		},
	}
}

// jsonOnly are numbers that no other face shows, and that cannot disagree.
var jsonOnly = []string{"place dwell.mean", "transition duration.mean", "source seq", "source epoch", "queue priority", "agent traffic.message_rate"}

// indices are those of the rows in PETRINET-MIB, and labels those in Prometheus.
var (
	indices = map[string][]uint32{"agent": {0}, "net": {1}, "place": {1, 1}, "transition": {1, 1}, "queue": {1, 3}, "source": {1}}
	labels  = map[string]string{"place": `place="p0"`, "transition": `transition="t0"`}
	tabs    = map[string]top.Tab{"net": top.Nets, "place": top.Places, "transition": top.Transitions, "source": top.Sources}
)

// TestEveryNumberIsTheSameOnEveryFace compares all numbers of one View that two
// faces show, each as the face itself gives it.
func TestEveryNumberIsTheSameOnEveryFace(t *testing.T) {
	v := view()
	h, live := faces(t, v)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- live.Run(ctx) }()
	for !strings.Contains(get(h, "/api/v1/overview"), `"generation":35`) {
		runtime.Gosched()
	}
	document := get(h, "/api/v1/view")
	subjects := subjectsOf(t, document)
	overview := decoded(t, get(h, "/api/v1/overview"))
	frame := decoded(t, firstFrame(t, h))
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	compareParts(t, subjects["net"], overview["nets"].([]any)[0].(map[string]any))
	compareParts(t, subjects["source"], overview["sources"].([]any)[0].(map[string]any))
	compareParts(t, subjects["place"], frame["places"].([]any)[0].(map[string]any))
	compareParts(t, subjects["transition"], frame["transitions"].([]any)[0].(map[string]any))
	exposed, snmp, shown := get(h, "/metrics"), tableOf(t, v), model(t, document)
	families, all := map[string]bool{}, numbers()
	for subject, list := range all {
		compared := map[string]bool{}
		for _, n := range list {
			want, ok := field(subjects[subject], n.field)
			if compared[n.field] = true; !ok {
				t.Errorf("%s: the JSON has no number %s", subject, n.field)
				continue
			}
			hold := func(face string, got float64) {
				if math.Abs(got-want) > 1e-3+0.0005*math.Abs(want) {
					t.Errorf("%s %s is %v as JSON, and %v as %s", subject, n.field, want, got, face)
				}
			}
			if n.object != "" {
				hold(n.object, snmp(t, n.object, subject))
			}
			if n.metric != "" {
				hold(n.metric, metric(t, exposed, n.metric, labels[subject]))
				families[strings.TrimSuffix(strings.TrimSuffix(strings.Split(n.metric, "{")[0], "_count"), "_sum")] = true
			}
			if n.column != "" {
				got := shown(tabs[subject], n.column)
				if math.Abs(got-want) > 0.1*math.Abs(want) { // top cuts durations to two digits
					t.Errorf("%s %s is %v as JSON, and %v in column %s of top", subject, n.field, want, got, n.column)
				}
			}
		}
		for _, name := range leaves(subjects[subject], "") {
			if !compared[name] && !slices.Contains(jsonOnly, subject+" "+name) {
				t.Errorf("%s %s is in no row of the table of numbers", subject, name)
			}
		}
	}
	for _, f := range metrics.Families() {
		other := []string{metrics.PlaceFinal, metrics.SourceUp, metrics.SourceRefused, metrics.RegionStopped, metrics.AlarmActive, metrics.TransitionLastFiringTimestampSeconds}
		if strings.HasPrefix(f.Name, "petrinet_") && !families[f.Name] && !slices.Contains(other, f.Name) {
			t.Errorf("metric %s is in no row of the table of numbers", f.Name)
		}
	}
}

func decoded(t *testing.T, text string) (doc map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("reading the page's numbers: %v: %.300s", err, text)
	}
	return doc
}

// subjectsOf are the objects of a View that numbers are about.
func subjectsOf(t *testing.T, document string) map[string]map[string]any {
	agent := decoded(t, document)
	first := func(of map[string]any, list string) map[string]any { return of[list].([]any)[0].(map[string]any) }
	net := first(agent, "nets")
	all := map[string]map[string]any{"net": net, "place": first(net, "places"), "transition": first(net, "transitions"), "queue": first(net, "queues"), "source": first(agent, "sources"), "agent": agent}
	delete(agent["traffic"].(map[string]any), "rejected") // by reason
	return all
}

// field returns the number at a path.
func field(of map[string]any, path string) (float64, bool) {
	name, rest, deeper := strings.Cut(path, ".")
	if deeper {
		next, _ := of[name].(map[string]any)
		return field(next, rest)
	}
	n, ok := of[name].(float64)
	return n, ok
}

// leaves are the paths of all numbers of an object, but for those in lists.
func leaves(of map[string]any, prefix string) (paths []string) {
	for name, v := range of {
		switch v := v.(type) {
		case float64:
			paths = append(paths, prefix+name)
		case map[string]any:
			paths = append(paths, leaves(v, prefix+name+".")...)
		}
	}
	return paths
}

// compareParts holds a part of a document against the whole: fields of one name are equal.
func compareParts(t *testing.T, whole, part map[string]any) {
	t.Helper()
	shared := 0
	for name, v := range part {
		if w, ok := whole[name]; ok {
			shared++
			if !reflect.DeepEqual(v, w) {
				t.Errorf("%s is %v in the View, and %v in a part of it", name, w, v)
			}
		}
	}
	if shared < 4 {
		t.Errorf("only %d fields of %v are those of the View", shared, part)
	}
}

// firstFrame is the data of the first frame of the stream.
func firstFrame(t *testing.T, h http.Handler) string {
	t.Helper()
	server := httptest.NewServer(h)
	defer server.Close()
	r, err := server.Client().Get(server.URL + "/api/v1/live?net=net")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	lines := bufio.NewScanner(r.Body)
	lines.Buffer(nil, 1<<20)
	for is := false; lines.Scan(); {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && is {
			return data
		}
		is = lines.Text() == "event: frame" || is
	}
	t.Fatal("there is no frame")
	return ""
}

// tableOf returns the numbers of PETRINET-MIB by object, in the units of the JSON.
func tableOf(t *testing.T, v *collector.View) func(t *testing.T, object, subject string) float64 {
	t.Helper()
	module, err := os.ReadFile("../mibs/PETRINET-MIB.mib")
	if err != nil {
		t.Fatal(err)
	}
	type place struct {
		parent string
		number uint32
	}
	places := map[string]place{}
	for _, m := range regexp.MustCompile(`(?s)\n(\w+) (?:OBJECT-TYPE|OBJECT IDENTIFIER).*?::= \{ (\w+) (\d+) \}`).FindAllStringSubmatch(string(module), -1) {
		n, _ := strconv.ParseUint(m[3], 10, 32)
		places[m[1]] = place{m[2], uint32(n)}
	}
	root, err := mib.ParseRoot(mib.DefaultRoot)
	if err != nil {
		t.Fatal(err)
	}
	builder, err := mib.NewBuilder(root, "", mib.Agent{})
	if err != nil {
		t.Fatal(err)
	}
	table, err := builder.Build(v, nil, v.At)
	if err != nil {
		t.Fatal(err)
	}
	return func(t *testing.T, object, subject string) float64 {
		t.Helper()
		var path []uint32
		for name := object; name != "petrinetMIB"; name = places[name].parent {
			if places[name].parent == "" {
				t.Fatalf("%s is not in the module", name)
			}
			path = append([]uint32{places[name].number}, path...)
		}
		index := indices[subject]
		if object == "blockInstances" {
			index = []uint32{1, 1, 2, uint32(stats.ReasonMissing) + 1}
		}
		n := float64(int32(table.Get(root.Append(1).Append(path...).Append(index...)).Num))
		for _, part := range []string{"Rate1", "Rate5", "Rate15", "P50", "P95", "P99", "Interval", "Skew"} {
			if strings.HasSuffix(object, part) {
				return n / 1000
			}
		}
		return n
	}
}

// metric is the value of the only series of a name that has some labels.
func metric(t *testing.T, exposed, name, label string) float64 {
	t.Helper()
	name, more, _ := strings.Cut(strings.TrimSuffix(name, "}"), "{")
	for line := range strings.Lines(exposed) {
		series, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if (series == name || strings.HasPrefix(series, name+"{")) && strings.Contains(series, label) && strings.Contains(series, more) {
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Errorf("there is no metric %s", name)
	return math.NaN()
}

// model returns the figures of top by tab and column, of the first row.
func model(t *testing.T, document string) func(top.Tab, string) float64 {
	t.Helper()
	v, err := api.Decode[api.View](strings.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	return func(tab top.Tab, column string) float64 {
		m := top.New(top.Options{Tab: tab, Now: noon})
		m.Update(v, nil, noon)
		lines := strings.Split(m.Plain(), "\n")
		i := slices.Index(strings.Fields(lines[0]), column)
		text := strings.Fields(lines[1])[i]
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			return n
		}
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("column %s has %q", column, text)
		}
		return d.Seconds()
	}
}

func TestWhatIsMountedBesideThePageIsServed(t *testing.T) {
	h, _ := faces(t, view())
	for path, want := range map[string]string{"/endpoints": `<a href="/index.html">Live</a>`, "/-/healthy": "healthy", "/": "<!doctype html>", "/nothing": `{"error":`} {
		if got := get(h, path); !strings.Contains(strings.ToLower(got), strings.ToLower(want)) {
			t.Errorf("%s answers %.200s", path, got)
		}
	}
}

// TestTheWebConfigurationCoversThePage: without a password there is neither
// page nor stream; with one the stream lives until the server is stopped, and
// then ends at once.
func TestTheWebConfigurationCoversThePage(t *testing.T) {
	hash, err := bcrypt.GenerateFromPassword([]byte("secret"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "web.yml")
	if err := os.WriteFile(config, []byte("basic_auth_users:\n  ada: "+string(hash)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h, live := faces(t, view())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	go func() { ended <- live.Run(ctx) }()
	go func() {
		ended <- httpserver.New(httpserver.Config{WebConfig: config, Log: slog.New(slog.DiscardHandler)}).Serve(ctx, l, h)
	}()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	ask := func(path, password string) (code int, body io.Reader) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if password != "" {
			r.SetBasicAuth("ada", password)
		}
		w, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = w.Body.Close() })
		return w.StatusCode, w.Body
	}
	for _, path := range []string{"/", "/api/v1/live", "/api/v1/overview", "/api/v1/place?net=net&place=p0"} {
		if code, _ := ask(path, ""); code != http.StatusUnauthorized {
			t.Errorf("%s answers %d without a password", path, code)
		}
	}
	_, stream := ask("/api/v1/live?net=net", "secret")
	if line, err := bufio.NewReader(stream).ReadString('\n'); err != nil || line != "event: overview\n" {
		t.Errorf("got line %q, error %v; want event: overview", line, err)
	}
	cancel()
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if _, err := io.Copy(io.Discard, stream); err != nil {
		t.Errorf("the stream was broken off: %v", err)
	}
}
