// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/e2e/kit"
)

func TestCheckReadsEveryValidFileOfTheCorpusWithTheSizesOfItsList(t *testing.T) {
	t.Parallel()
	for _, f := range kit.CorpusFiles(t) {
		if !f.Valid {
			continue
		}
		t.Run(filepath.Base(f.Path), func(t *testing.T) {
			r := kit.Pnagent(t, "check", "--json", f.Path)
			if r.Code != 0 || r.Err != "" {
				t.Fatalf("got exit code %d, stderr %q; want 0 and nothing", r.Code, r.Err)
			}
			var got kit.Size
			for _, n := range kit.Checked(t, r.Out) {
				got.Places += n.Places
				got.Transitions += n.Transitions
				got.Arcs += n.Arcs
				got.Tokens += n.Tokens
			}
			if got != f.Size {
				t.Errorf("check counts %+v, the list %+v", got, f.Size)
			}
			text := kit.Pnagent(t, "check", f.Path)
			if text.Code != 0 || text.Err != "" || !strings.Contains(text.Out, f.Path+": ") {
				t.Errorf("as text: got %+v; want exit code 0 and a line of the file", text)
			}
		})
	}
}

func TestCheckRefusesEveryBrokenFileOfTheCorpusWithLineAndReason(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, f := range kit.CorpusFiles(t) {
		name := filepath.Base(f.Path)
		seen[name] = true
		if f.Valid {
			continue
		}
		t.Run(name, func(t *testing.T) {
			r := kit.Pnagent(t, "check", f.Path)
			if r.Code != 1 || r.Out != "" {
				t.Errorf("got exit code %d, stdout %q; want 1 and nothing", r.Code, r.Out)
			}
			each := regexp.MustCompile(`^pnagent: ` + regexp.QuoteMeta(f.Path) + `:(\d+):\d+: .{10,}\n$`)
			first := true
			for line := range strings.Lines(r.Err) {
				m := each.FindStringSubmatch(line)
				if m == nil {
					t.Fatalf("stderr has %q, want file:line:column: reason", line)
				}
				if want := fmt.Sprint(kit.Refused[name]); first && m[1] != want {
					t.Errorf("the first fault is in line %s, want %s", m[1], want)
				}
				first = false
			}
			if first {
				t.Error("no reason is given")
			}
			// Its own time, however busy the machine is.
			if r.CPU > time.Second {
				t.Errorf("got %s of processor time; want at most 1 s", r.CPU)
			}
		})
	}
	for name := range kit.Refused {
		if !seen[name] {
			t.Errorf("%s is not in the corpus", name)
		}
	}
}

func TestCheckOfSeveralFilesReportsAllFaults(t *testing.T) {
	t.Parallel()
	var args, broken []string
	for _, f := range kit.CorpusFiles(t) {
		args = append(args, f.Path)
		if !f.Valid {
			broken = append(broken, f.Path)
		}
	}
	r := kit.Pnagent(t, append([]string{"check", "--json"}, args...)...)
	if r.Code != 1 {
		t.Errorf("got exit code %d; want 1", r.Code)
	}
	for _, path := range broken {
		if !strings.Contains(r.Err, "pnagent: "+path+":") {
			t.Errorf("nothing is said of %s", path)
		}
	}
	if n := len(kit.Checked(t, r.Out)); n < len(args)-len(broken) {
		t.Errorf("%d nets are read of %d valid files", n, len(args)-len(broken))
	}
}

func TestCheckReadsStandardInput(t *testing.T) {
	t.Parallel()
	r := kit.PnagentWith(t, kit.StuckNet, "check", "-")
	if r.Code != 0 || !strings.Contains(r.Out, `net "claims": 4 places, 4 transitions, 7 arcs, 40 tokens`) {
		t.Errorf("got %+v; want exit code 0 and the sizes of claims", r)
	}
	kit.WantFailure(t, kit.PnagentWith(t, "<pnml><net", "check", "-"), 1, `stdin:1:7: the file ends`)
}

func TestCheckCompilesTheNamesOfWork(t *testing.T) {
	t.Parallel()
	const text = `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:z="http://camunda.org/schema/zeebe/1.0"><process id="p"><startEvent id="s"/>
<sequenceFlow id="f" sourceRef="s" targetRef="c"/><callActivity id="c"><extensionElements><z:calledElement processId="=p."/></extensionElements></callActivity></process></definitions>`
	kit.WantFailure(t, kit.PnagentWith(t, text, "check", "-"), 1, `stdin:2:51: the work of transition "c": column 4: found the end; expected an expression`)
}
