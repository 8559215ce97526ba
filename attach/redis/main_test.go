// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/internal/natstest"
)

func TestMain(m *testing.M) { natstest.Main(m) }

var update = flag.Bool("update", false, "write what the real libraries keep in Redis into testdata (with the tag peers)")

// recording is what a server answered.
type recording struct {
	System   string
	Now      int64
	Names    []string `json:",omitempty"` // of keys
	Commands [][]string
	Answers  []any
	Tokens   []string // as printed has them
}

// replayed is a server that answers as in a recording.
type replayed struct {
	t       testing.TB
	answers map[string]any
	keys    map[string]bool // that a scan finds
}

func (r *replayed) begin()      {}
func (r *replayed) read() int64 { return 0 }

func (r *replayed) next(_ context.Context, s *scan) (bool, error) {
	s.found = r.keys
	return true, nil
}

func (r *replayed) do(_ context.Context, commands [][]string) (out []any, err error) {
	for _, c := range commands {
		answer, known := r.answers[commandKey(c)]
		if !known && r.t != nil {
			r.t.Errorf("the recording has no answer to %q", c)
		}
		out = append(out, answer)
	}
	return out, nil
}

// binary is before the base64 of a text that JSON cannot hold.
const binary = "base64:"

// answered returns an answer of a recording as the client returns it.
func answered(v any) any {
	switch v := v.(type) {
	case float64:
		return int64(v)
	case string:
		if text, is := strings.CutPrefix(v, binary); is {
			b, err := base64.StdEncoding.DecodeString(text)
			if err == nil {
				return string(b)
			}
		}
	case []any:
		for i := range v {
			v[i] = answered(v[i])
		}
	}
	return v
}

// What the real libraries kept in Redis is shown as it was when it was recorded, with all commands
// that were sent and no other.
func TestRecordings(t *testing.T) {
	for _, s := range Systems() {
		t.Run(s.Name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("testdata", s.Name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			var of recording
			if err := json.Unmarshal(text, &of); err != nil {
				t.Fatal(err)
			}
			server := &replayed{t, map[string]any{}, map[string]bool{}}
			for _, name := range of.Names {
				server.keys[s.Prefix+strings.Replace(s.keys, "*", name, 1)] = true
			}
			for i, c := range of.Commands {
				server.answers[commandKey(c)] = answered(of.Answers[i])
			}
			r := reader{server: server, system: s, prefix: s.Prefix, detail: true, within: time.Minute}
			all, cost, err := r.poll(t.Context(), of.Now)
			if err != nil {
				t.Fatal(err)
			}
			if cost.Commands != len(of.Commands) {
				t.Errorf("%d commands; expected the %d of the recording", cost.Commands, len(of.Commands))
			}
			if d := cmp.Diff(of.Tokens, printed(of.Now, all)); d != "" {
				t.Error(d)
			}
		})
	}
}

// printed returns a line for each job.
func printed(now int64, all []found) (out []string) {
	for _, f := range all {
		if f.done >= 0 || f.due != 0 {
			out = append(out, fmt.Sprintf("%s: %d have succeeded, due %d", f.queue, f.done, f.due))
		}
		for _, p := range f.places {
			for _, j := range p.jobs {
				age := "no time"
				if j.since != 0 {
					age = (time.Duration(now-j.since) * time.Microsecond).Round(time.Second).String()
				}
				out = append(out, fmt.Sprintf("%s, %s of %d: %s, %s, %s: %s, until %d", f.queue, p.id, p.tokens(), j.id, age, j.why.Reason, j.why.Text, j.why.Until))
			}
		}
	}
	return out
}
