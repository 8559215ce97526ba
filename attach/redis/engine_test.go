// SPDX-License-Identifier: Apache-2.0

//go:build peers

package redis

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	client "github.com/redis/go-redis/v9"

	"github.com/pnagent/pnagent/attach/internal/enginetest"
	"github.com/pnagent/pnagent/internal/npmtest"
	"github.com/pnagent/pnagent/internal/porttest"
)

// newRedis starts a Redis server, which ends with the test, and returns its port. More arguments
// are those of redis-server.
func newRedis(t *testing.T, more ...string) (port string) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts Redis and a library of jobs")
	}
	program, err := exec.LookPath("redis-server") // the program does as its name says, which is a link's
	if err != nil {
		t.Skip("redis-server is not installed; scripts/deps peers installs it")
	}
	port = porttest.Port(t)
	begin(t, port, exec.Command(program, append([]string{"--bind", "127.0.0.1", "--port", port, "--save", "", "--dir", t.TempDir(), "--loglevel", "warning"}, more...)...))
	return port
}

// begin starts a server that ends with the test, and waits until it answers at a port. end kills it.
func begin(t *testing.T, port string, cmd *exec.Cmd) (end func()) {
	t.Helper()
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end = func() {
		cmd.Process.Kill()
		cmd.Wait()
	}
	t.Cleanup(end)
	s := dial(t, Access{Addresses: []string{"127.0.0.1:" + port}})
	until(t, func() string {
		_, err := s.do(t.Context(), [][]string{{"EXISTS", "x"}})
		if answer := client.Error(nil); err != nil && !errors.As(err, &answer) {
			return err.Error()
		}
		return ""
	})
	return end
}

// dial returns a connection, which ends with the test.
func dial(t *testing.T, a Access) *Server {
	t.Helper()
	s, err := Dial(a)
	if err != nil {
		t.Fatal(err)
	}
	s.begin()
	t.Cleanup(func() { s.Close() })
	return s
}

// list returns the answer to a command that is a list of texts.
func (s *Server) list(t *testing.T, command ...string) (out []string) {
	t.Helper()
	answers, err := s.do(t.Context(), [][]string{command})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range answers[0].([]any) {
		out = append(out, v.(string))
	}
	return out
}

// until waits until check returns "", which otherwise says what is missing.
func until(t *testing.T, check func() string) {
	t.Helper()
	deadline := time.Now().Add(3 * time.Minute)
	for missing := check(); missing != ""; missing = check() {
		if time.Now().After(deadline) {
			t.Fatal(missing)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// newNode starts a library of testdata/node.
func newNode(t *testing.T, library, port string) *enginetest.Engine {
	t.Helper()
	node := enginetest.Program(t, "node")
	if version, err := exec.CommandContext(t.Context(), node, "--version").Output(); err != nil || string(version) < "v20" {
		t.Skipf("Node.js %s, %v; the library needs 20 or later", version, err)
	}
	lib := npmtest.Install(t, filepath.Join("testdata", "node"))
	cmd := exec.Command(node, filepath.Join("testdata", "node", "engine.js"), library, port) // it ends with its input
	cmd.Env = append(cmd.Environ(), "NODE_PATH="+filepath.Join(lib, "node_modules"))
	return enginetest.Start(t, cmd)
}

// library is a system, its real library and the server of both.
type library struct {
	*enginetest.Engine
	t   *testing.T
	cfg Config
}

func newLibrary(t *testing.T, system, port string, e *enginetest.Engine) *library {
	t.Helper()
	s, err := Find(system)
	if err != nil {
		t.Fatal(err)
	}
	l := &library{e, t, Config{Server: dial(t, Access{Addresses: []string{"127.0.0.1:" + port}}), System: s, Detail: true}}
	l.cfg.Timeout = 10 * time.Second
	return l
}

// look reads the queues once.
func (l *library) look() *Report {
	l.t.Helper()
	found, err := Check(l.t.Context(), l.cfg)
	if err != nil {
		l.t.Fatal(err)
	}
	return found
}

// token is a job as the library and the adapter report it.
type token struct {
	queue, place, id string
	since            int64 // milliseconds
}

// reported returns the jobs by the library's API.
func (l *library) reported() (out []token) {
	l.t.Helper()
	for _, line := range l.Do("report") {
		f := strings.Fields(line)
		since, err := strconv.ParseFloat(f[4], 64)
		if len(f) != 5 || err != nil {
			l.t.Fatalf("%q; expected: at QUEUE PLACE ID SINCE", line)
		}
		out = append(out, token{f[1], f[2], f[3], int64(since)})
	}
	return out
}

// tokens returns the jobs of a look.
func (l *Report) tokens() (out []token) {
	for _, f := range l.all {
		for _, p := range f.places {
			for _, j := range p.jobs {
				out = append(out, token{f.queue, p.id, j.id, j.since / 1000})
			}
		}
	}
	return out
}

// A name of a worker, and the end of its lock, in a text.
var (
	holder = regexp.MustCompile(`(held by|lock of) (worker|process|server) [^ ,]+`)
	ending = regexp.MustCompile(`(until|ended at) \d[^ ,]+Z`)
)

// whys returns what the jobs of a look wait for, by "queue place". The names of workers are WHO, and the
// ends of their locks are END.
func (l *Report) whys() map[string][]string {
	out := map[string][]string{}
	for _, f := range l.all {
		for _, p := range f.places {
			for _, j := range p.jobs {
				key := f.queue + " " + p.id
				out[key] = append(out[key], fmt.Sprintf("%s: %s", j.why.Reason, ending.ReplaceAllString(holder.ReplaceAllString(j.why.Text, "$1 $2 WHO"), "$1 END")))
			}
		}
	}
	for _, all := range out {
		slices.Sort(all)
	}
	return out
}

// agrees waits until each job is where the library reports it, since the same second, and waits for
// what is wanted.
func (l *library) agrees(want map[string][]string) {
	l.t.Helper()
	until(l.t, func() string {
		found := l.look()
		if d := agree(l.reported(), found.tokens()); d != "" {
			return "jobs, - library, + adapter:\n" + d
		}
		return cmp.Diff(want, found.whys())
	})
}

// act types the command line that is shown for the oldest job of a place, and returns what it prints.
func (l *library) act(queue, place string, environment ...string) string {
	l.t.Helper()
	cfg := l.cfg
	cfg.Source, cfg.Interval, cfg.Log = "shown", time.Second, slog.New(slog.NewTextHandler(l.t.Output(), nil))
	a, err := New(cfg)
	if err != nil {
		l.t.Fatal(err)
	}
	shown, err := a.Look(l.t.Context(), 1)
	if err != nil {
		l.t.Fatal(err)
	}
	for _, s := range shown {
		if s.Net != queue || s.Place != place {
			continue
		}
		typed := exec.CommandContext(l.t.Context(), "sh", "-c", s.Oldest[0].Waits[0].Command)
		typed.Env = append(typed.Environ(), environment...)
		out, err := typed.CombinedOutput()
		if err != nil {
			l.t.Fatalf("%q: %v: %s", typed.Args, err, out)
		}
		return string(out)
	}
	l.t.Fatalf("no job is in %s of %s", place, queue)
	return ""
}

// agree compares jobs, ages to the second, and returns the difference.
func agree(want, got []token) string {
	order := func(a, b token) int {
		return strings.Compare(a.queue+" "+a.place+" "+a.id, b.queue+" "+b.place+" "+b.id)
	}
	slices.SortFunc(want, order)
	slices.SortFunc(got, order)
	for i := range min(len(want), len(got)) {
		if d := want[i].since - got[i].since; order(want[i], got[i]) == 0 && -1000 < d && d < 1000 {
			got[i].since = want[i].since
		}
	}
	return cmp.Diff(want, got, cmp.AllowUnexported(token{}))
}

// recorder is a server that keeps what it answers.
type recorder struct {
	server
	of *recording
}

func (r recorder) do(ctx context.Context, commands [][]string) ([]any, error) {
	answers, err := r.server.do(ctx, commands)
	r.of.Commands = append(r.of.Commands, commands...)
	for _, a := range answers {
		r.of.Answers = append(r.of.Answers, recorded(a))
	}
	return answers, err
}

// recorded returns an answer as JSON holds it.
func recorded(v any) any {
	switch v := v.(type) {
	case string:
		if !utf8.ValidString(v) {
			return binary + base64.StdEncoding.EncodeToString([]byte(v))
		}
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = recorded(v[i])
		}
		return out
	}
	return v
}

// record writes what the library keeps into testdata, if the test has the flag.
func (l *library) record() {
	l.t.Helper()
	if !*update {
		return
	}
	of := recording{System: l.cfg.System.Name, Now: time.Now().UnixMicro()}
	r := l.cfg.reader()
	r.detail = true
	r.server = recorder{r.server, &of}
	all, _, err := r.poll(l.t.Context(), of.Now)
	if err != nil {
		l.t.Fatal(err)
	}
	of.Names, of.Tokens = r.names, printed(of.Now, all)
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(of); err != nil {
		l.t.Fatal(err)
	}
	lines := strings.NewReplacer(`],[`, "],\n[", `,"Answers"`, ",\n\"Answers\"", `,"Tokens":[`, ",\n\"Tokens\":[\n", `","`, `","`).Replace(text.String())
	if err := os.WriteFile(filepath.Join("testdata", of.System+".json"), []byte(lines), 0o600); err != nil {
		l.t.Fatal(err)
	}
}
