// SPDX-License-Identifier: Apache-2.0

package walls

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/pnagent/pnagent/"

// room is what one package may do.
type room struct {
	imports []string // of ours
	pure    bool     // no clock, no I/O, no goroutine, no randomness of its own
}

// rooms are all packages of the project. One that is missing here fails the
// test: a new package states its walls.
var rooms = map[string]room{
	"petri":                                {pure: true},
	"petri/pnml":                           {imports: []string{"petri", "petri/xmlscan"}, pure: true},
	"petri/bpmn":                           {imports: []string{"petri", "petri/iso8601", "petri/xmlscan"}, pure: true},
	"petri/bpmn/diagram":                   {imports: []string{"petri", "petri/bpmn", "petri/draw", "petri/xmlscan"}, pure: true},
	"petri/dmn":                            {imports: []string{"petri", "petri/xmlscan"}, pure: true},
	"petri/iso8601":                        {pure: true},
	"petri/netfile":                        {imports: []string{"petri", "petri/bpmn", "petri/dmn", "petri/pnml", "petri/textnet", "petri/trace"}, pure: true},
	"petri/textnet":                        {imports: []string{"petri", "petri/xmlscan"}, pure: true},
	"petri/xes":                            {imports: []string{"petri", "petri/xmlscan"}, pure: true},
	"petri/explore":                        {imports: []string{"petri"}, pure: true},
	"petri/sound":                          {imports: []string{"petri", "petri/explore"}, pure: true},
	"petri/query":                          {imports: []string{"petri", "petri/explore", "petri/xmlscan"}, pure: true},
	"petri/play":                           {imports: []string{"petri", "petri/explore"}, pure: true},
	"petri/petritest":                      {imports: []string{"petri"}, pure: true},
	"petri/split":                          {imports: []string{"petri"}, pure: true},
	"petri/trace":                          {imports: []string{"internal/plaintext", "petri"}, pure: true},
	"stats":                                {imports: []string{"internal/firstfields"}, pure: true},
	"engine/internal/shard":                {imports: []string{"petri", "petri/split", "stats"}, pure: true},
	"engine/plain":                         {imports: []string{"engine/internal/shard", "engine/ready", "petri", "petri/split", "stats"}, pure: true},
	"engine/coloured":                      {imports: []string{"engine/guard/scan", "engine/internal/shard", "engine/plain", "engine/ready", "petri", "petri/split", "stats"}, pure: true},
	"engine/guard":                         {imports: []string{"engine/coloured", "engine/guard/dmn", "engine/guard/feel", "engine/guard/scan", "engine/guard/uel", "petri"}, pure: true},
	"engine/guard/dmn":                     {imports: []string{"engine/guard/feel", "engine/guard/scan", "engine/guard/uel", "petri"}, pure: true},
	"engine/simulate":                      {imports: []string{"engine/coloured", "engine/internal/shard", "engine/plain", "engine/ready", "petri", "petri/xes", "stats"}, pure: true},
	"engine/guard/scan":                    {pure: true},
	"engine/guard/feel":                    {imports: []string{"engine/guard/scan", "internal/zones"}, pure: true},
	"engine/guard/uel":                     {imports: []string{"engine/guard/scan"}, pure: true},
	"engine/action":                        {imports: []string{"engine/coloured", "internal/duration", "internal/samehost", "internal/zones"}},
	"engine/ready":                         {pure: true},
	"engine/journal":                       {imports: []string{"internal/atomicfile", "internal/ordered"}},
	"engine/journal/stream":                {imports: []string{"engine/journal", "internal/ordered"}},
	"engine/journal/journaltest":           {imports: []string{"engine/journal"}},
	"telemetry/wire":                       {},
	"telemetry/natslink":                   {imports: []string{"internal/wakeup"}},
	"telemetry/permissions":                {imports: []string{"telemetry"}, pure: true},
	"telemetry/natsmetrics":                {imports: []string{"internal/selfmetrics", "telemetry/natslink"}},
	"telemetry":                            {imports: []string{"internal/lograte", "internal/plaintext", "internal/wakeup", "petri", "petri/pnml", "stats", "telemetry/natslink", "telemetry/wire"}},
	"engine":                               {imports: []string{"engine/action", "engine/coloured", "engine/guard", "engine/journal", "engine/plain", "engine/ready", "engine/simulate", "internal/duration", "internal/ordered", "internal/selfmetrics", "internal/wakeup", "petri", "petri/iso8601", "petri/pnml", "petri/split", "petri/yamlfile", "stats", "telemetry"}},
	"engine/region":                        {imports: []string{"engine", "engine/journal", "petri", "petri/split", "telemetry"}},
	"act":                                  {imports: []string{"internal/atomicfile", "internal/ordered", "internal/plaintext", "petri", "petri/pnml", "stats", "telemetry"}},
	"collector/counts":                     {imports: []string{"collector", "collector/merge", "internal/atomicfile", "internal/dirlock", "internal/framed", "internal/selfmetrics"}},
	"collector/alarm":                      {imports: []string{"collector/merge", "internal/cron", "internal/duration", "internal/ordered", "internal/zones", "petri", "petri/yamlfile", "stats", "telemetry/natslink"}, pure: true},
	"collector/alarm/alarmtest":            {imports: []string{"collector/merge", "petri", "stats"}, pure: true},
	"collector/alarm/watch":                {imports: []string{"collector/alarm", "collector/merge", "internal/atomicfile", "internal/framed", "internal/latest", "internal/outbox"}},
	"collector":                            {imports: []string{"collector/merge", "internal/latest", "internal/selfmetrics", "petri", "petri/pnml", "stats", "telemetry", "telemetry/natslink"}},
	"mib/smi":                              {pure: true},
	"mib":                                  {imports: []string{"collector/alarm", "collector/merge", "internal/atomicfile", "internal/dirlock", "internal/ordered", "internal/plaintext", "internal/selfmetrics", "mib/smi", "petri", "stats", "telemetry/natslink"}},
	"agentx/pdu":                           {imports: []string{"mib/smi"}, pure: true},
	"agentx":                               {imports: []string{"agentx/pdu", "internal/selfmetrics", "mib/smi"}},
	"snmp":                                 {imports: []string{"internal/atomicfile", "internal/outbox", "internal/selfmetrics", "mib/smi"}},
	"notify":                               {imports: []string{"collector/alarm", "internal/atomicfile", "internal/duration", "internal/framed", "internal/plaintext", "petri/yamlfile"}},
	"metrics":                              {imports: []string{"collector/alarm", "collector/merge", "internal/accept", "petri", "stats"}},
	"collector/merge":                      {imports: []string{"internal/ordered", "petri", "petri/pnml", "stats", "telemetry", "telemetry/natslink"}, pure: true},
	"collector/merge/mergetest":            {imports: []string{"petri", "stats", "telemetry"}},
	"collector/standby":                    {imports: []string{"collector/standby/roster", "internal/selfmetrics"}},
	"collector/standby/roster":             {pure: true},
	"collector/uplink":                     {imports: []string{"collector", "collector/merge", "internal/selfmetrics", "petri", "stats", "telemetry"}},
	"petri/draw":                           {imports: []string{"petri"}, pure: true},
	"collector/history":                    {imports: []string{"collector/alarm", "collector/merge", "internal/ordered", "petri", "stats", "telemetry/natslink"}, pure: true},
	"web":                                  {imports: []string{"act", "collector/alarm", "collector/history", "collector/merge", "internal/accept", "internal/httpserver", "internal/lograte", "internal/ordered", "internal/plaintext", "internal/selfmetrics", "petri", "petri/bpmn", "petri/bpmn/diagram", "petri/draw", "stats", "telemetry", "telemetry/natslink", "web/api"}},
	"web/api":                              {imports: []string{"internal/plaintext", "petri"}},
	"web/pagetest":                         {imports: []string{"internal/browsertest"}},
	"otlp":                                 {imports: []string{"internal/selfmetrics"}},
	"otlp/export":                          {imports: []string{"otlp", "petri", "stats"}},
	"archive":                              {imports: []string{"internal/promquery", "metrics", "petri", "web/api"}},
	"top":                                  {imports: []string{"stats", "web/api"}, pure: true},
	"top/terminal":                         {imports: []string{"top", "web/api"}},
	"dashboards":                           {imports: []string{"collector/alarm", "internal/atomicfile", "metrics", "stats"}},
	"integrations":                         {imports: []string{"collector/alarm", "internal/atomicfile", "internal/plaintext", "mib", "mib/smi", "petri"}},
	"dashboards/report":                    {imports: []string{"dashboards", "dashboards/report/plot", "engine/simulate", "internal/promquery", "metrics", "web/api"}},
	"dashboards/report/plot":               {pure: true},
	"attach/lines":                         {imports: []string{"attach/lines/replay", "internal/framed", "internal/selfmetrics", "petri", "petri/pnml", "petri/xes", "petri/xmlscan", "petri/yamlfile", "stats", "telemetry"}},
	"attach/lines/replay":                  {imports: []string{"petri", "stats"}, pure: true},
	"attach/internal/shipped":              {imports: []string{"cli"}},
	"attach/internal/enginetest":           {imports: []string{"internal/buildtest", "internal/cachetest", "internal/porttest"}},
	"attach/scrape":                        {imports: []string{"attach/internal/shipped", "internal/samehost", "petri", "petri/pnml", "petri/yamlfile", "stats", "telemetry"}},
	"attach/dipen":                         {imports: []string{"attach/dipen/replica", "internal/atomicfile", "internal/selfmetrics", "petri", "petri/pnml", "stats", "telemetry"}},
	"attach/dipen/replica":                 {imports: []string{"petri", "stats"}, pure: true},
	"attach/internal/ledger":               {imports: []string{"internal/framed", "internal/selfmetrics", "petri", "petri/pnml", "stats", "telemetry"}},
	"attach/internal/diagram":              {imports: []string{"attach/internal/ledger", "petri", "petri/bpmn", "petri/bpmn/diagram", "stats", "telemetry"}},
	"attach/camunda8":                      {imports: []string{"act", "attach/internal/diagram", "attach/internal/ledger", "internal/selfmetrics", "petri", "stats", "telemetry"}},
	"attach/sqldb":                         {imports: []string{"act", "attach/internal/diagram", "attach/internal/ledger", "attach/internal/shipped", "internal/cron", "internal/selfmetrics", "internal/zones", "petri", "stats", "telemetry"}},
	"attach/redis":                         {imports: []string{"act", "attach/internal/diagram", "attach/internal/ledger", "internal/selfmetrics", "petri", "stats", "telemetry"}},
	"attach/temporal":                      {imports: []string{"act", "attach/internal/ledger", "internal/selfmetrics", "petri", "stats", "telemetry"}},
	"attach/kubernetes":                    {imports: []string{"act", "attach/internal/ledger", "internal/cron", "internal/selfmetrics", "internal/zones", "petri", "stats", "telemetry"}},
	"cli":                                  {imports: []string{"internal/duration", "internal/fullprogram", "internal/httpserver", "internal/samehost", "petri", "petri/netfile", "telemetry", "telemetry/natslink"}},
	"attach":                               {},
	"attach/internal/poll":                 {imports: []string{"attach/internal/ledger", "cli", "internal/selfmetrics", "telemetry/natsmetrics"}},
	"attach/lines/command":                 {imports: []string{"attach", "attach/lines", "cli", "telemetry", "telemetry/natslink", "telemetry/natsmetrics"}},
	"attach/scrape/command":                {imports: []string{"attach", "attach/scrape", "cli", "telemetry/natsmetrics"}},
	"attach/dipen/command":                 {imports: []string{"attach", "attach/dipen", "attach/dipen/replica", "cli", "petri", "telemetry", "telemetry/natsmetrics"}},
	"attach/sqldb/command":                 {imports: []string{"act", "attach", "attach/internal/ledger", "attach/internal/poll", "attach/sqldb", "cli"}},
	"attach/redis/command":                 {imports: []string{"attach", "attach/internal/ledger", "attach/internal/poll", "attach/redis", "cli"}},
	"attach/temporal/command":              {imports: []string{"attach", "attach/internal/ledger", "attach/internal/poll", "attach/temporal", "cli"}},
	"attach/kubernetes/command":            {imports: []string{"attach", "attach/internal/ledger", "attach/internal/poll", "attach/kubernetes", "cli"}},
	"attach/camunda8/command":              {imports: []string{"attach", "attach/camunda8", "attach/internal/ledger", "attach/internal/poll", "cli"}},
	"telemetry/wirecheck":                  {imports: []string{"internal/ordered", "petri", "petri/pnml", "stats", "telemetry"}},
	"examples/attach/go":                   {imports: []string{"telemetry"}},
	"examples":                             {},
	"internal/walls":                       {},
	"internal/cron":                        {pure: true},
	"internal/zones":                       {pure: true},
	"internal/zones/write":                 {},
	"internal/completion":                  {},
	"internal/accept":                      {},
	"internal/promquery":                   {},
	"internal/selfmetrics":                 {},
	"internal/memlimit":                    {},
	"internal/firstfields":                 {},
	"internal/wakeup":                      {},
	"internal/fullprogram":                 {},
	"internal/httpserver":                  {imports: []string{"internal/selfmetrics"}},
	"internal/atomicfile":                  {},
	"internal/framed":                      {imports: []string{"internal/atomicfile"}},
	"internal/duration":                    {pure: true},
	"internal/dirlock":                     {},
	"internal/latest":                      {},
	"internal/outbox":                      {},
	"internal/ordered":                     {pure: true},
	"internal/plaintext":                   {pure: true},
	"internal/measure":                     {pure: true},
	"internal/buildtest":                   {},
	"internal/cachetest":                   {},
	"internal/benchtable":                  {imports: []string{"internal/measure"}},
	"model":                                {},
	"internal/timetable":                   {},
	"internal/golf":                        {},
	"internal/promises":                    {},
	"internal/flow":                        {},
	"internal/browsertest":                 {},
	"petri/xmlscan":                        {imports: []string{"petri"}, pure: true},
	"petri/yamlfile":                       {imports: []string{"petri"}},
	"mibs":                                 {},
	"e2e":                                  {},
	"e2e/alarms":                           {},
	"e2e/attach":                           {},
	"e2e/commands":                         {},
	"e2e/engine":                           {},
	"e2e/hostile":                          {},
	"e2e/logs":                             {},
	"e2e/page":                             {},
	"e2e/release":                          {},
	"e2e/prometheus":                       {},
	"e2e/doctor":                           {},
	"e2e/otlp":                             {},
	"e2e/sidecar":                          {},
	"e2e/simulation":                       {},
	"e2e/snmp":                             {},
	"e2e/kit":                              {imports: []string{"*"}},
	"snmp/snmptest":                        {imports: []string{"internal/logtest", "internal/pausetest", "internal/porttest", "mib/smi"}},
	"internal/pausetest":                   {},
	"internal/busytest":                    {},
	"internal/selfmetrics/selfmetricstest": {imports: []string{"internal/selfmetrics"}},
	"internal/proxytest":                   {},
	"internal/natstest":                    {},
	"internal/npmtest":                     {imports: []string{"internal/atomicfile"}},
	"internal/logtest":                     {},
	"internal/porttest":                    {},
	"internal/racetest":                    {},
	"internal/seeds":                       {},
	"internal/seeds/choose":                {imports: []string{"internal/seeds"}},
	"internal/samehost":                    {},
	"internal/lograte":                     {},
	"e2e/fleetsim":                         {},
	"e2e/suites":                           {},
	"e2e/upgrade":                          {},
	"engine/region/regiontest":             {imports: []string{"engine", "engine/journal", "engine/region", "stats"}},
	"sidecar/doctor":                       {imports: []string{"agentx", "cli", "internal/promquery", "mib", "mib/smi", "notify", "sidecar", "telemetry", "telemetry/natslink", "telemetry/permissions", "web/api"}},
	"sidecar":                              {imports: []string{"act", "agentx", "archive", "cli", "collector", "collector/alarm", "collector/alarm/watch", "collector/counts", "collector/history", "collector/merge", "collector/standby", "collector/uplink", "internal/dirlock", "internal/httpserver", "internal/selfmetrics", "metrics", "mib", "mib/smi", "notify", "otlp", "petri", "petri/pnml", "snmp", "telemetry", "telemetry/natslink", "telemetry/natsmetrics", "web", "web/api"}},
	"cmd/pnagent":                          {imports: []string{"*"}},
}

type goPackage struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	Imports    []string
}

func packages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-tags", "peers", "-json=ImportPath,Dir,GoFiles,Imports", module+"...")
	cmd.Env = append(os.Environ(), "GOWORK=off") // test modules, which a workspace may add, have no walls
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("listing packages: %v", err)
	}
	var all []goPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func TestPackagesImportOnlyWhatTheirRoomAllows(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		seen[name] = true
		r, ok := rooms[name]
		if !ok {
			t.Errorf("package %s has no row in the table of rooms", name)
			continue
		}
		for _, path := range p.Imports {
			ours, is := strings.CutPrefix(path, module)
			if is && !slices.Contains(r.imports, ours) && !slices.Contains(r.imports, "*") {
				t.Errorf("package %s imports %s; its room allows %q", name, ours, r.imports)
			}
		}
	}
	for name := range rooms {
		if !seen[name] {
			t.Errorf("the table of rooms has %s, which is no package", name)
		}
	}
}

// forbidden is what a pure package must not import, and the functions that it
// must not call of packages that it may.
var (
	forbiddenImports = []string{"net", "net/http", "os", "os/exec", "os/signal", "syscall", "log", "log/slog", "math/rand", "crypto/rand", "sync", "unsafe", "C"}
	forbiddenCalls   = map[string][]string{
		"time":         {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"},
		"math/rand/v2": {"Int", "IntN", "Int32", "Int32N", "Int64", "Int64N", "Uint32", "Uint32N", "Uint64", "Uint64N", "Float32", "Float64", "ExpFloat64", "NormFloat64", "N", "Perm", "Shuffle"},
	}
)

func TestPurePackagesTouchNothingOutside(t *testing.T) {
	for _, p := range packages(t) {
		if !rooms[strings.TrimPrefix(p.ImportPath, module)].pure {
			continue
		}
		for _, file := range p.GoFiles {
			path := filepath.Join(p.Dir, file)
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, fault := range impure(f) {
				t.Errorf("%s: %s", fset.Position(fault.pos), fault.what)
			}
		}
	}
}

type fault struct {
	pos  token.Pos
	what string
}

// impure returns what a file of a pure package must not have.
func impure(f *ast.File) []fault {
	var out []fault
	local := map[string]string{} // local name of an import to its path
	for _, i := range f.Imports {
		path := strings.Trim(i.Path.Value, `"`)
		name := path[strings.LastIndex(path, "/")+1:]
		if path == "math/rand/v2" {
			name = "rand"
		}
		if i.Name != nil {
			name = i.Name.Name
		}
		local[name] = path
		if slices.Contains(forbiddenImports, path) {
			out = append(out, fault{i.Pos(), "a pure package imports " + path})
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			out = append(out, fault{n.Pos(), "a pure package starts a goroutine"})
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && slices.Contains(forbiddenCalls[local[x.Name]], n.Sel.Name) {
				out = append(out, fault{n.Pos(), "a pure package uses " + x.Name + "." + n.Sel.Name})
			}
		}
		return true
	})
	return out
}

// renames are the files that may rename others: each syncs the directory
// afterwards, and its own tests take the power away at every step.
var renames = []string{"internal/atomicfile/replace.go", "engine/journal/disk.go"}

// A rename lasts once its directory is synced, so whatever keeps a file over
// restarts replaces it by package atomicfile.
func TestFilesAreReplacedSoThatTheyLast(t *testing.T) {
	for _, p := range packages(t) {
		for _, name := range p.GoFiles {
			path := filepath.Join(p.Dir, name)
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			if slices.Contains(renames, strings.TrimPrefix(p.ImportPath, module)+"/"+name) {
				continue
			}
			for _, pos := range renamings(f) {
				t.Errorf("%s: os.Rename without a sync of the directory; expected a function of internal/atomicfile", fset.Position(pos))
			}
		}
	}
}

// renamings returns where a file uses os.Rename.
func renamings(f *ast.File) (out []token.Pos) {
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Rename" {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "os" {
				out = append(out, s.Pos())
			}
		}
		return true
	})
	return out
}

func TestImpurityIsSeen(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "f.go", `package p
import ("os"; "time"; r "math/rand/v2")
var a, b = time.Now(), r.IntN(3)
var c = time.Second
func f(x *r.Rand) { go f(x); _ = x.IntN(3); _ = os.Rename("a", "b") }`, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := renamings(f); len(got) != 1 {
		t.Errorf("%d renamings, want 1", len(got))
	}
	if got := impure(f); len(got) != 4 {
		t.Errorf("%d faults, want 4: %v", len(got), got)
	}
}
