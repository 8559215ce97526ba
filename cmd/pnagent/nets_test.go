// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/internal/logtest"
)

// idle returns a file of a process with tasks that never begin: a warning for each.
func idle(t *testing.T, tasks int) string {
	t.Helper()
	text := `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="p"><startEvent id="s"/>`
	for i := range tasks {
		text += fmt.Sprintf(`<task id="t%d"/>`, i)
	}
	path := filepath.Join(t.TempDir(), "p.bpmn")
	if err := os.WriteFile(path, []byte(text+`</process></definitions>`), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// ending is a log that ends a command, which may run on, a second after a text.
type ending struct {
	logtest.Buffer
	text string
	end  func()
	once sync.Once
}

func (e *ending) Write(p []byte) (int, error) {
	n, err := e.Buffer.Write(p)
	if strings.Contains(e.String(), e.text) {
		e.once.Do(func() { time.AfterFunc(time.Second, e.end) })
	}
	return n, err
}

func TestEveryCommandThatReadsNetFilesLogsTheirWarnings(t *testing.T) {
	one := idle(t, 1)
	events := filepath.Join(t.TempDir(), "events.log")
	if err := os.WriteFile(events, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"engine", "--firings", "1", one},
		{"engine", "--trace", "--firings", "1", one},
		{"play", one},
		{"draw", "-o", filepath.Join(t.TempDir(), "p.svg"), one},
		{"mib", "--dir", t.TempDir(), one},
		{"integrations", "cacti", "--dir", t.TempDir(), one},
		{"attach", "lines", "--nats", "nats://127.0.0.1:1", "--xes", events, one},
	} {
		t.Run(strings.Join(args[:2], " "), func(t *testing.T) {
			var out bytes.Buffer
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			log := &ending{text: `level=WARN msg="net file" warning="` + one + `:1:102: no sequence flow leads to task`, end: cancel}
			run(ctx, args, streams{strings.NewReader(""), &out, log})
			if strings.Count(log.String(), log.text) != 1 {
				t.Errorf("%s\nwant once %s", log.String(), log.text)
			}
		})
	}
}

func TestManyWarningsOfNetFilesAreCounted(t *testing.T) {
	var out, log bytes.Buffer
	run(t.Context(), []string{"engine", "--firings", "1", idle(t, cli.MaxWarnings+5)}, streams{strings.NewReader(""), &out, &log})
	if n := strings.Count(log.String(), "no sequence flow leads to"); n != cli.MaxWarnings || !strings.Contains(log.String(), "warnings=5") {
		t.Errorf("%d warnings; want %d, and the number of others:\n%s", n, cli.MaxWarnings, log.String())
	}
}

func TestANetIsDrawnForAnAspectWithinBounds(t *testing.T) {
	for _, aspect := range []string{"0", "-1", "NaN", "11"} {
		var out, log bytes.Buffer
		if status := run(t.Context(), []string{"draw", "--aspect", aspect, idle(t, 1)}, streams{strings.NewReader(""), &out, &log}); status == 0 ||
			!strings.Contains(log.String(), "expected a ratio from 0.1 to 10") {
			t.Errorf("draw --aspect %s ends with status %d: %s", aspect, status, log.String())
		}
	}
}
