// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package command

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/pnagent/pnagent/attach/lines"
	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/telemetry/natsmetrics"
)

var ordersNet = filepath.Join("..", "..", "..", "examples", "attach", "orders.pnml")

// called runs the command and returns what it wrote, and its error.
func called(ctx context.Context, t *testing.T, in string, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	parser, err := kong.New(&Command{}, cli.Settings(), kong.BindTo(ctx, (*context.Context)(nil)), kong.BindTo(strings.NewReader(in), (*io.Reader)(nil)), kong.BindTo(&out, (*io.Writer)(nil)))
	if err != nil {
		t.Fatal(err)
	}
	k, err := parser.Parse(append([]string{"lines"}, args...))
	if err != nil {
		t.Fatal(err)
	}
	err = k.Run(slog.New(slog.DiscardHandler))
	return out.String(), err
}

func TestLinesOfStandardInputAreReplayed(t *testing.T) {
	out, err := called(t.Context(), t, `{"instance":"a","place":"inbox"}`+"\n"+`{"instance":"a","transition":"ship"}`+"\n"+`{"instance":"a","transition":"shop"}`, "--exit-at-end", ordersNet)
	want := `{"lines":3,"dropped":{"unknown_transition":1},"nets":[{"net":"orders","events":2,"unfit":0,"fitness":1,` +
		`"produced":2,"consumed":2,"missing":0,"remaining":0,"silent":0,"late":0,"open":0}]}` + "\n"
	if err != nil || out != want {
		t.Errorf("%v: %swant %s", err, out, want)
	}
}

// A log of which every line was dropped has no fitness: the command prints its summary and fails.
func TestALogOfWhichEverythingIsDroppedIsAnError(t *testing.T) {
	for rule, c := range map[string]struct {
		lines, want string // of the error; "" for none
		fitness     bool
	}{
		"other transitions": {`{"instance":"a","transition":"x"}` + "\n" + `{"instance":"a","transition":"y"}`,
			"nothing was replayed: every line or event was dropped: 2 × has a transition that the net does not have (unknown_transition)", false},
		"two reasons": {"x\n" + `{"time":"never","instance":"a","place":"inbox"}`,
			"1 × is not one JSON object (not_json), 1 × has a malformed time (bad_time)", false},
		"one of them is an event": {"x\n" + `{"instance":"a","place":"inbox"}`, "", true},
		"nothing at all":          {"", "", false},
	} {
		out, err := called(t.Context(), t, c.lines, "--exit-at-end", ordersNet)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(out, `{"lines":`) || strings.Contains(out, "fitness") != c.fitness {
			t.Errorf("%s: %v, %s; want %q", rule, err, out, c.want)
		}
	}
}

func TestFlagsOfAttachLinesThatAreWrong(t *testing.T) {
	for args, want := range map[string]string{
		"--speed 0":                            "a number above 0",
		"--speed fast":                         "expected max",
		"--time.zone Nowhere":                  "--time.zone",
		"--nats.subject x":                     "needs --nats",
		"--ocel x":                             "--ocel.type",
		"--interval 0s":                        "--interval",
		"--poll 0s":                            "--poll",
		"--source " + strings.Repeat("x", 300): "--source",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := called(ctx, t, "", append(strings.Fields(args), ordersNet)...); !cli.IsUsage(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", args, err, want)
		}
	}
}

// The page names every metric and every reason, and no other.
func TestThePageOfLinesNamesEveryMetric(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "attach", "lines.md"))
	if err != nil {
		t.Fatal(err)
	}
	tables, err := cli.CompileNets([]string{ordersNet}, nil, cli.Limits{MaxBytes: 1 << 20, MaxDepth: 100, MaxNodes: 100}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	a, err := lines.New(lines.Config{Nets: tables, Fields: lines.Fields{Transition: "transition"}, Instances: 1, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	is := map[string]bool{}
	lost := map[string]func() uint64{"udp": func() uint64 { return 0 }}
	for _, d := range slices.Concat(lines.Metrics(a, &telemetry.Publisher{}, lost).Families(), natsmetrics.Of(nil).Families()) {
		name := d.Name
		is[name] = true
		if !bytes.Contains(text, []byte("`"+name)) {
			t.Errorf("the page does not name %s", name)
		}
	}
	for _, name := range regexp.MustCompile(`pnagent_[a-z_]+(\.py)?`).FindAllString(string(text), -1) {
		if !is[name] && !strings.HasSuffix(name, ".py") { // the example is called so, too
			t.Errorf("the page names %s, which there is not", name)
		}
	}
	for _, why := range lines.Reasons() {
		if !bytes.Contains(text, []byte("`"+why.String()+"`")) {
			t.Errorf("the page does not name the reason %s", why)
		}
	}
}
