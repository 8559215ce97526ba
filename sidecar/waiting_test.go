// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/mib"
)

// What SNMP does not show yet is logged once, and once more when it is shown; not if it left.
func TestANetThatSNMPDoesNotShowYetIsLoggedOnce(t *testing.T) {
	var out bytes.Buffer
	s := &Sidecar{cfg: Config{Log: slog.New(slog.NewTextHandler(&out, nil))}}
	both := &merge.View{Nets: []*merge.NetView{{Name: "big"}, {Name: "gone"}}}
	waiting := []mib.Waiting{{Net: "big", Names: 12_000}, {Net: "gone", Names: 11_000}}
	steps := []struct {
		rule    string
		view    *merge.View
		waiting []mib.Waiting
		want    []string // in the lines that are logged
	}{
		{"none waits", both, nil, nil},
		{"two wait", both, waiting, []string{"level=WARN msg=\"SNMP does not show the net until a source has reported it for a minute", "net=big names=12000", "net=gone names=11000"}},
		{"they still wait", both, waiting, nil},
		{"one is shown, one has left", &merge.View{Nets: both.Nets[:1]}, nil, []string{"level=INFO msg=\"SNMP shows the net now\" net=big"}},
		{"later", both, nil, nil},
	}
	for _, step := range steps {
		out.Reset()
		s.logWaiting(step.view, step.waiting)
		for _, want := range step.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: logged %q; want %q in it", step.rule, &out, want)
			}
		}
		if lines := strings.Count(out.String(), "\n"); len(step.want) == 0 && lines > 0 || strings.Contains(out.String(), "now\" net=gone") {
			t.Errorf("%s: logged %q", step.rule, &out)
		}
	}
}
