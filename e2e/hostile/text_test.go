// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"encoding/csv"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/plaintext"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// The names of a net and a source that try to look like others: right-to-left text,
// a line separator, and in the name of a place a C1 control of terminals.
const (
	evilNet    = "claims\u202egnp"
	evilSource = "shop\u202e\u2028-1"
)

var evilPNML = strings.NewReplacer(`id="claims"`, `id="`+evilNet+`"`, "inbox", "=in\u202e\u2066box", "Inbox", "In\u009b2J\u2028box", `"take"`, "\"ta\u200fke\"",
	"Take up", "Ta\u061cke").Replace(kit.StuckNet)

// hostile returns the hostile characters of a text of several lines.
func hostile(text string) (found []rune) {
	for _, r := range text {
		if plaintext.Hostile(r) && r != '\n' && r != '\t' && !slices.Contains(found, r) {
			found = append(found, r)
		}
	}
	return found
}

// Names with controls and right-to-left text go through the whole pipeline. No face
// shows them as they are, and the JSON API has the true id.
func TestHostileNamesReachNoFaceAsTheyAre(t *testing.T) {
	t.Parallel()
	snmptest.RequireTools(t)
	natsURL := kit.StartNATS(t)
	side := kit.Serve(t, natsURL, "--snmp", "127.0.0.1:0")
	file := kit.Write(t, "claims.pnml", evilPNML)
	running := kit.RunEngine(t, natsURL, evilSource, "--bindings", kit.Write(t, "bindings.yaml", strings.ReplaceAll(kit.StuckBindings, "claims", "\""+strings.ReplaceAll(evilNet, "\u202e", `\u202e`)+"\"")), file)
	kit.Until(t, "the net is shown", func() error { return side.Shows(t, evilNet) })
	dir := t.TempDir()
	for _, args := range [][]string{
		{"check", file}, {"check", "--explore", "100", file}, {"check", "--json", file}, {"draw", file}, {"draw", "-o", filepath.Join(dir, "net.svg"), file}, {"convert", "--to", "dot", file}, {"convert", "--to", "pnml", file},
		{"dump", "--url", side.URL}, {"top", "--once", "--url", side.URL}, {"report", "--url", side.URL, "-o", "-"}, {"mib", "--dir", dir, file},
		{"check", file + "\u202eabsent"}, {"wire", "check", "--nats", natsURL, "--for", "2s"}, {"engine", "--trace", "--firings", "10", file},
	} {
		r := kit.Pnagent(t, args...)
		if found := hostile(r.Out + r.Err); len(found) > 0 || r.Out+r.Err == "" && args[0] != "draw" {
			t.Errorf("%q: got %U in\n%s%s", args, found, r.Out, r.Err)
		}
		t.Logf("%q: %d, %d bytes, %.150s", args, r.Code, len(r.Out), r.Err)
	}
	// The initial places are the edge of the first line: one of them begins with "=".
	r := kit.Pnagent(t, "engine", "--trace", "--firings", "10", file)
	cells, err := csv.NewReader(strings.NewReader(r.Out)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	quoted := 0
	for _, line := range cells {
		for _, cell := range line {
			if strings.HasPrefix(cell, "'=") {
				quoted++
			}
			if cell != "-" && strings.ContainsAny(cell[:min(len(cell), 1)], "=+-@\t\r") {
				t.Errorf("the trace: got the cell %q; want one that no spreadsheet takes for a formula", cell)
			}
		}
	}
	if quoted == 0 {
		t.Errorf("the trace: got no cell that begins with an apostrophe; want that of the place:\n%s", r.Out)
	}
	view := string(side.Page(t, "/api/v1/view"))
	if found := hostile(view); len(found) > 0 || !strings.Contains(view, `claims\u202egnp`) {
		t.Errorf("the API: got %U in %.1000s", found, view)
	}
	if got := side.View(t); got.Nets[0].ID != evilNet || got.Sources[0].Name != evilSource {
		t.Errorf("the true ids: got %q, %q", got.Nets[0].ID, got.Sources[0].Name)
	}
	for name, log := range map[string]string{"serve": side.Err.String(), "engine": running.Err.String()} {
		if found := hostile(log); len(found) > 0 {
			t.Errorf("the log of %s: got %U in\n%s", name, found, log)
		}
	}
	escaped := 0
	for name, v := range kit.Walk(t, snmptest.Client{Addr: side.SNMP}) {
		if !strings.Contains(v.Str, "claims") && !strings.Contains(v.Str, "shop") && !strings.Contains(v.Str, "box") {
			continue // such as a date, whose octets are no text
		}
		if strings.Contains(v.Str, `\u202e`) {
			escaped++
		}
		if found := hostile(v.Str); len(found) > 0 {
			t.Errorf("SNMP: got %U in %s %q", found, name, v.Str)
		}
	}
	if escaped < 3 {
		t.Errorf("SNMP: got %d escaped names; want those of the net, the place and the source", escaped)
	}
}
