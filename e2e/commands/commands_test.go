// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/porttest"
)

func TestExitCodesAndOneLineOnStderrForEachError(t *testing.T) {
	t.Parallel()
	net := kit.Write(t, "claims.pnml", kit.StuckNet)
	dir := t.TempDir()
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"an unknown command":            {[]string{"dance"}, 2, "dance"},
		"an unknown flag":               {[]string{"check", "--colour", net}, 2, "unknown flag --colour"},
		"a flag without its value":      {[]string{"demo", "--for"}, 2, "--for"},
		"a time that is none":           {[]string{"demo", "--for", "soon"}, 2, "--for"},
		"no net":                        {[]string{"check"}, 2, "net"},
		"a log level that is none":      {[]string{"--log.level", "loud", "version"}, 2, "log.level"},
		"play from standard input":      {[]string{"play", "-"}, 2, "standard input"},
		"a root that is none":           {[]string{"mib", "--dir", dir, "--oid-root", "here", net}, 2, "--oid-root"},
		"a root outside of enterprises": {[]string{"serve", "--oid-root", "1.3.6.1.2.1.1"}, 2, "--oid-root"},
		"instances below none":          {[]string{"engine", "--instances", "-1", net}, 2, "instances"},
		"no instances":                  {[]string{"engine", "--instances", "0", net}, 2, "0 instances"},
		"a source without a name":       {[]string{"engine", "--source", "\x01", net}, 2, "--source"},
		"a NATS prefix that is none":    {[]string{"engine", "--nats", "nats://127.0.0.1:1", "--nats.prefix", "a..b", net}, 2, "prefix"},
		"an AgentX address of no kind":  {[]string{"serve", "--agentx", "carrier:pigeon", "--web.listen-address", "127.0.0.1:0", "--mib-dir", ""}, 2, "carrier"},
		"a file that is not there":      {[]string{"check", "/nowhere/net.pnml"}, 1, "/nowhere/net.pnml: no such file"},
		"bindings that are not there":   {[]string{"engine", "--bindings", "/nowhere.yaml", "--firings", "1", net}, 1, "/nowhere.yaml: no such file"},
		"a sidecar that is not there":   {[]string{"dump", "--url", "http://" + porttest.Addr(t)}, 1, "connection refused"},
		"a directory that is a file":    {[]string{"mib", "--dir", net, net}, 1, "claims.pnml"},
		"a configuration not there":     {[]string{"check-config", "/nowhere.yml"}, 1, "/nowhere.yml: no such file"},
	} {
		t.Run(name, func(t *testing.T) { kit.WantFailure(t, kit.Pnagent(t, c.args...), c.code, c.says) })
	}
}

func TestFaultsInFilesAreGivenWithLineAndColumn(t *testing.T) {
	t.Parallel()
	net := kit.Write(t, "claims.pnml", kit.StuckNet)
	for name, c := range map[string]struct {
		file string
		args []string
		text string
		says string
	}{
		"a transition that the net does not have": {"bindings.yaml", []string{"engine", "--firings", "1", net, "--bindings"},
			"nets:\n  claims:\n    transitions:\n      dance: manual\n", `:4:7: net "claims" has no transition "dance"; expected`},
		"a way to fire that is none": {"bindings.yaml", []string{"engine", "--firings", "1", net, "--bindings"},
			"nets:\n  claims:\n    transitions:\n      take: sometimes\n", `:4:13: .*; expected`},
		"a key that the configuration does not have": {"pnagent.yml", []string{"check-config"},
			"web.listen-address: 127.0.0.1:0\nweb.colour: blue\n", `:2:1: unknown key "web.colour"; expected`},
		"a value that a key does not take": {"pnagent.yml", []string{"check-config"},
			"forget-after: soon\n", `:1:15: .*; expected`},
	} {
		t.Run(name, func(t *testing.T) {
			path := kit.Write(t, c.file, c.text)
			kit.WantFailure(t, kit.Pnagent(t, append(c.args, path)...), 1, path+c.says)
		})
	}
}

func TestCheckConfigTakesWhatServeTakes(t *testing.T) {
	t.Parallel()
	net := kit.Write(t, "claims.pnml", kit.StuckNet)
	config := kit.Write(t, "pnagent.yml", "web.listen-address: 127.0.0.1:0\nsnmp: 127.0.0.1:0\nmib-dir: "+t.TempDir()+"\nforget-after: 1m\nnet: ["+net+"]\n")
	if r := kit.Pnagent(t, "check-config", config); r.Code != 0 || r.Err != "" {
		t.Errorf("got %+v; want exit code 0 and no message", r)
	}
	s := &kit.Sidecar{Process: kit.Start(t, kit.Built().Pnagent, "serve", "--config", config, "--nats", kit.StartNATS(t))}
	at := s.Says(t, `"?sidecar serves"? http=(\S+) snmp=(127\S+)`)
	s.URL = "http://" + at[1]
	kit.Until(t, "the view has the net of the configuration", func() error {
		if v := s.View(t); len(v.Nets) != 1 || v.Nets[0].ID != "claims" {
			return fmt.Errorf("the view has %+v", v.Nets)
		}
		return nil
	})
	s.Stop(t, syscall.SIGTERM)
}

func TestHelpAndVersion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		says []string
	}{
		{[]string{"version"}, []string{"pnagent ", "revision", "go1."}},
		{[]string{"--help"}, []string{"demo", "serve", "engine", "check", "play", "mib", "dump", "check-config", "version"}},
		{nil, []string{"Usage: pnagent"}},
		{[]string{"help"}, []string{"Usage: pnagent"}},
		{[]string{"serve", "--help"}, []string{"--agentx", "--snmp", "--web.listen-address", "--web.config.file", "--oid-root", "--mib-dir", "--nats", "--config"}},
		{[]string{"engine", "--help"}, []string{"--source", "--instances", "--workers", "--bindings", "--seed", "--firings"}},
		{[]string{"demo", "--help"}, []string{"--for", "--instances", "--http", "--snmp", "--nats", "--agentx"}},
		{[]string{"play", "--help"}, []string{"fire ID", "inject N ID", "state"}},
	} {
		r := kit.Pnagent(t, c.args...)
		if r.Code != 0 || r.Err != "" {
			t.Errorf("%q: got exit code %d and %q; want 0 and nothing", c.args, r.Code, r.Err)
		}
		for _, word := range c.says {
			if !strings.Contains(r.Out, word) {
				t.Errorf("%q: got %s\nwant %q in it", c.args, r.Out, word)
			}
		}
	}
}

func TestEngineWithFiringsPrintsOneJSONLine(t *testing.T) {
	t.Parallel()
	r := kit.Pnagent(t, "engine", "--firings", "1000", "--source", "here", kit.Write(t, "ring.pnml", kit.RingNet))
	if r.Code != 0 {
		t.Fatalf("got %+v; want exit code 0", r)
	}
	var line map[string]any
	if err := json.Unmarshal([]byte(r.Out), &line); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"firings", "seconds", "rate", "marking"} {
		if _, ok := line[field]; !ok {
			t.Errorf("no %s in %s", field, r.Out)
		}
	}
	did := kit.ParseReport(t, r.Out)
	var tokens uint64
	for _, n := range did.Marking {
		tokens += n
	}
	if did.Firings != 1000 || did.Seconds <= 0 || did.Rate <= 0 || tokens != 1 || did.Source != "here" {
		t.Errorf("got %+v; want 1000 firings and one token of source here", did)
	}
}

func TestAnEngineWaitsForAFiringFromOutside(t *testing.T) {
	t.Parallel()
	url := kit.StartNATS(t)
	nc := kit.Connect(t, url)
	e := kit.RunEngine(t, url, "stuck", "--firings", "83", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", kit.StuckNet))
	for range 3 { // 80 firings come by themselves
		kit.Request(t, nc, "fire", "claims", "stuck", `{"instance":0,"transition":"answer"}`)
	}
	want := map[string]uint64{"awaiting answer": 37, "paid €": 3}
	if r := e.End(t); r.Firings != 83 || !cmp.Equal(r.Marking, want) {
		t.Errorf("got %+v; want 83 firings and %v", r, want)
	}
}

func TestTheSameSeedGivesTheSameMarking(t *testing.T) {
	t.Parallel()
	n := kit.OddNet()
	path := kit.WriteNet(t, n)
	markings := map[string][]string{}
	for _, workers := range []string{"1", "2"} {
		for _, seed := range []string{"7", "7", "8"} {
			r := kit.Pnagent(t, "engine", "--firings", "9999", "--seed", seed, "--workers", workers, "--source", "x", path)
			marking, err := json.Marshal(kit.ParseReport(t, r.Out).Marking)
			if err != nil {
				t.Fatal(err)
			}
			markings[workers] = append(markings[workers], string(marking))
		}
		if m := markings[workers]; m[0] != m[1] {
			t.Errorf("with %s workers a seed gives %s, then %s", workers, m[0], m[1])
		} else if m[0] == m[2] {
			t.Errorf("with %s workers two seeds give %s", workers, m[0])
		}
	}
}

func TestMibPrintsWhatItWrote(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "mibs")
	net := kit.Write(t, "claims.pnml", kit.StuckNet)
	for _, want := range []string{"written", "unchanged"} {
		r := kit.Pnagent(t, "mib", "--dir", dir, net)
		if r.Code != 0 || r.Err != "" {
			t.Fatalf("got %+v; want exit code 0 and no message", r)
		}
		for _, file := range []string{"PETRINET-MIB.mib", "CLAIMS-PN-MIB.mib", "oids.lock"} {
			if kit.Submatch(r.Out, `(?m)^`+want+` +`+filepath.Join(dir, file)+`$`) == nil {
				t.Errorf("got %q; want %s as %s in it", r.Out, file, want)
			}
			if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
				t.Error(err)
			}
		}
	}
}
