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

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/history"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/httpserver"
	"github.com/pnagent/pnagent/metrics"
	"github.com/pnagent/pnagent/mib"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry/natslink"
	"github.com/pnagent/pnagent/top"
	"github.com/pnagent/pnagent/web"
	"github.com/pnagent/pnagent/web/api"
)

// noon is the time of the View and of every face that shows it.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// view is of one net in which every number is another one.
func view() *merge.View {
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
		p.Slowest = stats.Slowest{Instance: "b", Micros: 58e6, At: before(59)}
	}
	rows.Places[0].Stuck = []stats.Token{{Instance: "a", Injected: before(1200), Waits: []stats.Wait{{Transition: 0, Place: 1, Reason: stats.ReasonMissing, Count: 1}}}}
	rows.Places[0].Groups = []stats.Group{{Reason: stats.ReasonMissing, Tokens: 9, Due: before(1200), Oldest: rows.Places[0].Stuck[0]}}
	rows.Transitions[0] = stats.Transition{Firings: 51, Enabled: 6, EnabledSince: before(75), Running: 8, RunningSince: before(95), Failures: 12, Retries: 13,
		Cancels: 14, Timeouts: 15, Late: 16, LastFiring: before(5), NextDue: before(-55)}
	rows.Transitions[0].Duration.Observe(3e6)
	rows.Transitions[0].Slowest = stats.Slowest{Instance: "c", Micros: 60e6, At: before(61)}
	rows.Net = stats.NetRow{Created: 40, Finished: 21, Failed: 22, Active: 23, Deadlocked: 24}
	rows.Waiting = 25
	rows.Queues = []stats.Queue{{Priority: 3, Ready: 26, OldestSince: before(27), UnservedSince: before(28), Served: 29, QuoteSwitches: 30}}
	rows.Blocks = []stats.Block{{Transition: 0, Place: 1, Reason: stats.ReasonMissing, Instances: 31}}
	position, standbys, lag := uint64(32), uint64(33), uint64(34)
	v := (&merge.View{At: noon.UnixMicro(), Generation: 35, Nets: []*merge.NetView{{Name: "net", Def: def, Final: def.FinalPlaces(), Rows: rows, Up: 36, Stale: 37, Since: before(48),
		Digests: []merge.Digest{{Digest: "d", Sources: 1}, {Digest: "e", Sources: 1}, {Digest: "f", Sources: 1}}}},
		NATS:   &natslink.ConnState{Connected: true, Since: before(49), Disconnects: 50},
		AgentX: &merge.Master{ConnState: natslink.ConnState{Since: before(51), Server: "unix:/a", Reason: "no such file", Disconnects: 52}},
		Sources: []merge.Source{{Name: "s", Net: "net", State: merge.Up, Region: "r", Fence: 38, Epoch: before(52), Position: &position, Standbys: &standbys, Lag: &lag,
			LastMessage: before(39), Interval: 2 * time.Second, Skew: 3 * time.Second, Gaps: 41, Duplicates: 42, Restarts: 43, Setbacks: 44, Requests: &stats.RefusedRequests{58, 59, 60, 61}}},
		Traffic: merge.Traffic{Messages: 1001, Bytes: 1002, Lost: 1003, Rejected: map[string]uint64{"bad_name": 7}}, MessageRate: 1004}).Sum()
	v.Nets[0].Rates = &merge.Rates{Firings: merge.Rate{Now: 2.5, Min1: 2.25, Min5: 2.125, Min15: 2.0625}, Finished: 0.5,
		Transitions: []merge.Rate{{Now: 3.5, Min1: 3.25, Min5: 3.125, Min15: 3.0625}}, Arrivals: []float64{4.5, 4.25}, Departures: []float64{5.5, 5.25}}
	return v
}

// faces are the live page, mounted as the sidecar does, and its Run.
func faces(t *testing.T, v *merge.View) (http.Handler, *web.Server) {
	t.Helper()
	shown := func() *merge.View { return v }
	views := make(chan *merge.View, 1)
	views <- v
	raised := make(chan *alarm.ActiveSet, 1)
	raised <- alarms()
	live, err := web.New(web.Config{Views: views, Alarms: raised, Now: func() time.Time { return noon }, History: history.New(history.Config{})})
	if err != nil {
		t.Fatal(err)
	}
	exporter, err := metrics.New(metrics.Config{View: shown, Now: func() time.Time { return noon }, Alarms: alarms,
		AlarmCounters: func() alarm.Counters { return alarm.Counters{Figures: alarm.Figures{Suppressed: alarms().Suppressed}} }, Mounts: []metrics.Mount{{Pattern: "/", Handler: live.Handler(), Link: "index.html", Text: "Live"}}})
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

// TestEveryNumberIsTheSameOnEveryFace compares all numbers of one View that two
// faces show, each as the face itself gives it.
//
//promise:faces none
func TestEveryNumberIsTheSameOnEveryFace(t *testing.T) {
	v := view()
	h, live := faces(t, v)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- live.Run(ctx) }()
	for !strings.Contains(get(h, "/api/v1/overview"), `"generation":35`) || !strings.Contains(get(h, "/api/v1/alarms"), `"index":47`) {
		runtime.Gosched()
	}
	document := get(h, "/api/v1/view")
	raised := get(h, "/api/v1/alarms")
	subjects := subjectsOf(t, document, raised, get(h, "/api/v1/alarms/cleared"))
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
	exposed, snmp, shown := get(h, "/metrics"), tableOf(t, v, noon), model(t, document, raised)
	families, objects, columns, all := map[string]bool{}, map[string]bool{}, map[string]bool{}, numbers()
	for subject, list := range all {
		compared := map[string]bool{}
		for _, n := range list {
			want, ok := field(subjects[subject], n.field)
			compared[n.field] = true
			if !ok {
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
				objects[n.object] = true
			}
			if n.metric != "" {
				hold(n.metric, metric(t, exposed, n.metric, labels[subject]))
				families[strings.TrimSuffix(strings.TrimSuffix(strings.Split(n.metric, "{")[0], "_count"), "_sum")] = true
			}
			if n.column != "" {
				got := shown(tabs[subject], n.column)
				columns[subject+" "+n.column] = true
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
	alarmsAreCounted(t, exposed, subjects["summary"])
	everyObjectIsCompared(t, objects)
	for subject, tab := range tabs {
		for _, title := range heads(t, tab) {
			if !columns[subject+" "+title] && !slices.Contains(noFigures, title) {
				t.Errorf("column %s of the tab of top for a %s is in no row of the table of numbers", title, subject)
			}
		}
	}
	for _, f := range metrics.Families() {
		other := []string{metrics.PlaceFinal, metrics.PlaceResting, metrics.PlaceInfo, metrics.TransitionInfo, metrics.SourceUp, metrics.SourceRefused, metrics.RegionStopped, metrics.AlarmActive, metrics.AlarmAcknowledged, metrics.AlarmReason, metrics.AlarmSilenced, metrics.AlarmUnknown, metrics.AlarmFollows, metrics.Alarms}
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
func subjectsOf(t *testing.T, document, alarms, cleared string) map[string]map[string]any {
	agent, raised := decoded(t, document), decoded(t, alarms)
	first := func(of map[string]any, list string) map[string]any { return of[list].([]any)[0].(map[string]any) }
	net := first(agent, "nets")
	all := map[string]map[string]any{"net": net, "place": first(net, "places"), "transition": first(net, "transitions"), "queue": first(net, "queues"), "source": first(agent, "sources"), "agent": agent,
		"stuck": first(first(net, "places"), "stuck"), "reason": first(first(net, "places"), "reasons"), "block": first(net, "blocks"), "alarm": first(raised, "active"), "alarms": raised}
	all["source"]["epoch"] = time.UnixMicro(int64(all["source"]["epoch"].(float64))).UTC().Format(time.RFC3339Nano)
	delete(agent["traffic"].(map[string]any), "rejected") // by reason
	alarmSubjects(t, all, decoded(t, cleared))
	return all
}

// field returns the number at a path: of a time how long ago it was in seconds, of a list
// its length.
func field(of map[string]any, path string) (float64, bool) {
	name, rest, deeper := strings.Cut(path, ".")
	if deeper {
		next, _ := of[name].(map[string]any)
		return field(next, rest)
	}
	if list, ok := of[name].([]any); ok {
		return float64(len(list)), true
	}
	return figure(of[name])
}

// figure returns a number, or how long ago a time was in seconds.
func figure(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case string:
		at, err := time.Parse(time.RFC3339, v)
		return noon.Sub(at).Seconds(), err == nil
	}
	return 0, false
}

// leaves are the paths of all numbers and times of an object, but for those in lists.
func leaves(of map[string]any, prefix string) (paths []string) {
	for name, v := range of {
		if _, ok := figure(v); ok {
			paths = append(paths, prefix+name)
		}
		if v, ok := v.(map[string]any); ok {
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

// tableOf returns the numbers of PETRINET-MIB at a time by object, in the units of the
// JSON.
func tableOf(t *testing.T, v *merge.View, now time.Time) func(t *testing.T, object, subject string) float64 {
	t.Helper()
	module := module(t)
	type place struct {
		parent string
		number uint32
	}
	places := map[string]place{}
	for _, m := range regexp.MustCompile(`(?s)\n(\w+) (?:OBJECT-TYPE|OBJECT IDENTIFIER).*?::= \{ (\w+) (\d+) \}`).FindAllStringSubmatch(module, -1) {
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
	table, err := builder.Build(v, alarms(), now.UnixMicro())
	if err != nil {
		t.Fatal(err)
	}
	oidOf := func(t *testing.T, object string) smi.OID {
		t.Helper()
		var path []uint32
		for name := object; name != "petrinetMIB"; name = places[name].parent {
			if places[name].parent == "" {
				t.Fatalf("%s is not in the module", name)
			}
			path = append([]uint32{places[name].number}, path...)
		}
		return root.Append(1).Append(path...)
	}
	return func(t *testing.T, object, subject string) float64 {
		t.Helper()
		index := indices[subject]
		if subject == "source" { // its index is made of its net and its name
			column := oidOf(t, "pnSourceName")
			for i := range table.Len() {
				if row := table.At(i); slices.Equal(row.Name[:min(len(column), len(row.Name))], column) && row.Value.Str == v.Sources[0].Name {
					index = row.Name[len(column):]
				}
			}
		}
		if object == "pnBlockInstances" {
			index = indices["block"]
		}
		value := table.Get(oidOf(t, object).Append(index...))
		if len(value.Str) == len("YYMDhms.+hm") { // DateAndTime
			d := value.Str
			at := time.Date(int(d[0])<<8|int(d[1]), time.Month(d[2]), int(d[3]), int(d[4]), int(d[5]), int(d[6]), int(d[7])*1e8, time.UTC)
			return noon.Sub(at).Seconds()
		}
		n := float64(int32(value.Num))
		for _, part := range []string{"Rate1", "Rate5", "Rate15", "P50", "P95", "P99", "Interval", "Skew"} {
			if strings.HasSuffix(object, part) {
				return n / 1000
			}
		}
		return n
	}
}

func module(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../mibs/PETRINET-MIB.mib")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// metric is the value of the only series of a name that has some labels.
func metric(t *testing.T, exposed, name, label string) float64 {
	t.Helper()
	name, more, _ := strings.Cut(strings.TrimSuffix(name, "}"), "{")
	for line := range strings.Lines(exposed) {
		line = strings.TrimSpace(line)
		last := strings.LastIndexByte(line, ' ') + 1 // a label may have spaces
		series, value := strings.TrimSuffix(line[:last], " "), line[last:]
		if (series == name || strings.HasPrefix(series, name+"{")) && strings.Contains(series, label) && strings.Contains(series, more) {
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(name, "_timestamp_seconds") {
				return float64(noon.Unix()) - n
			}
			return n
		}
	}
	t.Errorf("there is no metric %s", name)
	return math.NaN()
}

// model returns the figures of top by tab and column, of the first row.
func model(t *testing.T, document, alarms string) func(top.Tab, string) float64 {
	t.Helper()
	v, err := api.Decode[api.View](strings.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	raised, err := api.Decode[api.Alarms](strings.NewReader(alarms))
	if err != nil {
		t.Fatal(err)
	}
	return func(tab top.Tab, column string) float64 {
		m := top.New(top.Options{Tab: tab, Now: noon})
		m.Update(v, raised, noon)
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
