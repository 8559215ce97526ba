// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/internal/porttest"
)

func TestExitCodesAndOneLineOnStderrForEachError(t *testing.T) {
	t.Parallel()
	net := write(t, "claims.pnml", stuckNet)
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
		t.Run(name, func(t *testing.T) { wantFailure(t, pnagent(t, c.args...), c.code, c.says) })
	}
}

func TestFaultsInFilesAreGivenWithLineAndColumn(t *testing.T) {
	t.Parallel()
	net := write(t, "claims.pnml", stuckNet)
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
			path := write(t, c.file, c.text)
			wantFailure(t, pnagent(t, append(c.args, path)...), 1, path+c.says)
		})
	}
}

func TestCheckConfigTakesWhatServeTakes(t *testing.T) {
	t.Parallel()
	net := write(t, "claims.pnml", stuckNet)
	config := write(t, "pnagent.yml", "web.listen-address: 127.0.0.1:0\nsnmp: 127.0.0.1:0\nmib-dir: "+t.TempDir()+"\nforget-after: 1m\nnet: ["+net+"]\n")
	if r := pnagent(t, "check-config", config); r.code != 0 || r.err != "" {
		t.Errorf("got %+v; want exit code 0 and no message", r)
	}
	s := &sidecar{process: start(t, built.pnagent, "serve", "--config", config, "--nats", startNATS(t))}
	at := s.says(t, `"?sidecar serves"? http=(\S+) snmp=(127\S+)`)
	s.url = "http://" + at[1]
	until(t, "the view has the net of the configuration", func() error {
		if v := s.view(t); len(v.Nets) != 1 || v.Nets[0].ID != "claims" {
			return fmt.Errorf("the view has %+v", v.Nets)
		}
		return nil
	})
	s.stop(t, syscall.SIGTERM)
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
		r := pnagent(t, c.args...)
		if r.code != 0 || r.err != "" {
			t.Errorf("%q: got exit code %d and %q; want 0 and nothing", c.args, r.code, r.err)
		}
		for _, word := range c.says {
			if !strings.Contains(r.out, word) {
				t.Errorf("%q: got %s\nwant %q in it", c.args, r.out, word)
			}
		}
	}
}

func TestEngineWithFiringsPrintsOneJSONLine(t *testing.T) {
	t.Parallel()
	r := pnagent(t, "engine", "--firings", "1000", "--source", "here", write(t, "ring.pnml", ringNet))
	if r.code != 0 {
		t.Fatalf("got %+v; want exit code 0", r)
	}
	var line map[string]any
	if err := json.Unmarshal([]byte(r.out), &line); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"firings", "seconds", "rate", "marking"} {
		if _, ok := line[field]; !ok {
			t.Errorf("no %s in %s", field, r.out)
		}
	}
	did := parseReport(t, r.out)
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
	url := startNATS(t)
	nc := connect(t, url)
	e := runEngine(t, url, "stuck", "--firings", "83", "--bindings", write(t, "bindings.yaml", stuckBindings), write(t, "claims.pnml", stuckNet))
	for range 3 { // 80 firings come by themselves
		request(t, nc, "fire", "claims", "stuck", `{"instance":0,"transition":"answer"}`)
	}
	want := map[string]uint64{"awaiting answer": 37, "paid €": 3}
	if r := e.end(t); r.Firings != 83 || !cmp.Equal(r.Marking, want) {
		t.Errorf("got %+v; want 83 firings and %v", r, want)
	}
}

func TestTheSameSeedGivesTheSameMarking(t *testing.T) {
	t.Parallel()
	n := oddNet()
	path := writeNet(t, n)
	markings := map[string][]string{}
	for _, workers := range []string{"1", "2"} {
		for _, seed := range []string{"7", "7", "8"} {
			r := pnagent(t, "engine", "--firings", "9999", "--seed", seed, "--workers", workers, "--source", "x", path)
			marking, err := json.Marshal(parseReport(t, r.out).Marking)
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
	net := write(t, "claims.pnml", stuckNet)
	for _, want := range []string{"written", "unchanged"} {
		r := pnagent(t, "mib", "--dir", dir, net)
		if r.code != 0 || r.err != "" {
			t.Fatalf("got %+v; want exit code 0 and no message", r)
		}
		for _, file := range []string{"PETRINET-MIB.mib", "CLAIMS-PN-MIB.mib", "oids.lock"} {
			if submatch(r.out, `(?m)^`+want+` +`+filepath.Join(dir, file)+`$`) == nil {
				t.Errorf("got %q; want %s as %s in it", r.out, file, want)
			}
			if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
				t.Error(err)
			}
		}
	}
}
