// SPDX-License-Identifier: Apache-2.0

package enginetest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	diff "github.com/google/go-cmp/cmp"
)

// Page types the commands of a document of an adapter, at free ports and with the
// engine of the test.
type Page struct {
	t       *testing.T
	dir     string
	text    string
	replace *strings.Replacer
	snmp    string // address of the responder
	web     string // address of the sidecar
	own     string // address of the adapter's own metrics

	adapter    string
	endSidecar func(syscall.Signal)
	endAdapter func(syscall.Signal)

	// End ends what was started. The end of the test does, too.
	End func()
}

// Follow types the commands of the first block of a document, which end with the
// sidecar and the adapter; both publish to a NATS server. replace are pairs of what the
// document has and the test has instead of it. It skips the test if a program is
// not there.
func Follow(t *testing.T, document, nats string, replace ...string) *Page {
	t.Helper()
	for _, name := range []string{"bash", "curl", "jq", "snmpbulkwalk"} {
		Program(t, name)
	}
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	p := &Page{t: t, dir: t.TempDir(), text: string(text), snmp: "127.0.0.1:" + FreePort(t), web: "127.0.0.1:" + FreePort(t), own: "127.0.0.1:" + FreePort(t)}
	p.build()
	p.replace = strings.NewReplacer(append(replace, "nats-server &\n", "", "nats://127.0.0.1:4222", nats,
		"127.0.0.1:1161", p.snmp, "127.0.0.1:9797", p.web, "127.0.0.1:9798", p.own,
		"pnagent serve", "pnagent serve --web.listen-address "+p.web)...)
	commands, adapter, found := strings.Cut(p.blocks("sh")[0], "pnagent attach")
	if !found {
		t.Fatalf("the first commands of %s do not start an adapter", document)
	}
	p.adapter = "exec pnagent attach" + strings.TrimSuffix(strings.TrimRight(adapter, " \n"), "&")
	p.endSidecar, p.endAdapter = p.begin(commands+"wait"), p.begin(p.adapter)
	p.End = sync.OnceFunc(func() {
		p.endAdapter(syscall.SIGTERM)
		p.endSidecar(syscall.SIGTERM)
	})
	t.Cleanup(p.End)
	return p
}

// Type types the first block of commands of a section of a document, which ends with an
// adapter that publishes to a NATS server. The adapter ends with the test. replace is
// as for Follow.
func Type(t *testing.T, document, section, nats string, replace ...string) {
	t.Helper()
	Program(t, "bash")
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	_, part, found := strings.Cut(string(text), "\n## "+section+"\n")
	p := &Page{t: t, dir: t.TempDir(), text: part, replace: strings.NewReplacer(append(replace, "nats://127.0.0.1:4222", nats)...)}
	blocks := p.blocks("sh")
	if !found || len(blocks) == 0 {
		t.Fatalf("%s has no section %s with commands", document, section)
	}
	p.build()
	end := p.begin(blocks[0])
	t.Cleanup(func() { end(syscall.SIGTERM) })
}

// build builds pnagent, which the commands of the document run.
func (p *Page) build() {
	p.t.Helper()
	build := exec.CommandContext(p.t.Context(), "go", "build", "-o", filepath.Join(p.dir, "pnagent"), "github.com/pnagent/pnagent/cmd/pnagent")
	if out, err := build.CombinedOutput(); err != nil {
		p.t.Fatalf("building pnagent: %v\n%s", err, out)
	}
}

// Kill kills the adapter, and returns what starts it again.
func (p *Page) Kill() (again func()) {
	p.endAdapter(syscall.SIGKILL)
	p.endAdapter = func(syscall.Signal) {}
	return func() { p.endAdapter = p.begin(p.adapter) }
}

// shell returns commands of the document as the test types them.
func (p *Page) shell(commands string) *exec.Cmd {
	cmd := exec.CommandContext(context.Background(), "bash", "-o", "pipefail", "-c", p.replace.Replace(commands))
	cmd.Dir, cmd.Env = p.dir, append(os.Environ(), "PATH="+p.dir+":"+os.Getenv("PATH"))
	return cmd
}

// begin types commands that do not end, and returns what ends them.
func (p *Page) begin(commands string) (end func(syscall.Signal)) {
	p.t.Helper()
	cmd := p.shell(commands)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stdout, cmd.Stderr = p.t.Output(), p.t.Output()
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	return func(s syscall.Signal) {
		if err := syscall.Kill(-cmd.Process.Pid, s); err != nil {
			p.t.Error(err)
		}
		cmd.Wait() //nolint:errcheck // it ends by a signal
	}
}

// blocks returns the blocks of code of a kind.
func (p *Page) blocks(kind string) (all []string) {
	for _, b := range strings.Split(p.text, "\n```"+kind+"\n")[1:] {
		text, _, _ := strings.Cut(b, "\n```")
		all = append(all, text)
	}
	return all
}

var (
	numbers    = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`) // differ from run to run
	instanceOf = regexp.MustCompile(`instance=[0-9]+'`)
)

// Printed returns how what a command of the document prints differs from the document,
// but for numbers. The document asks for an instance.
func (p *Page) Printed(instance string) string {
	for _, block := range p.blocks("console") {
		for _, part := range strings.Split("\n"+block, "\n$ ")[1:] {
			command, want, _ := strings.Cut(part, "\n")
			out, err := p.shell(instanceOf.ReplaceAllString(command, "instance="+instance+"'")).CombinedOutput()
			if err != nil {
				return fmt.Sprintf("%s: %v: %s", command, err, out)
			}
			if d := diff.Diff(numbers.ReplaceAllString(want, "#"), numbers.ReplaceAllString(strings.TrimSpace(string(out)), "#")); d != "" {
				return "$ " + command + "\n- the page, + printed:\n" + d
			}
		}
	}
	return ""
}

// run returns what a program prints.
func (p *Page) run(name string, args ...string) string {
	cmd := exec.CommandContext(p.t.Context(), name, args...)
	cmd.Env = append(os.Environ(), "MIBS=", "SNMPCONFPATH="+os.DevNull, "SNMP_PERSISTENT_FILE="+os.DevNull)
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return string(out)
}

// seen is a token as a face shows it.
type seen struct {
	Held
	why string
}

// walk returns what SNMP shows: the table of stuck tokens. Its index is net, place
// and rank.
func (p *Page) walk() (out []seen) {
	const root = "1.3.6.1.4.1.8072.9999.9999.1.1."
	column := func(oid string) map[string]string {
		all := map[string]string{}
		for _, line := range strings.Split(p.run("snmpbulkwalk", "-v2c", "-c", "public", "-Onq", p.snmp, root+oid), "\n") {
			if name, value, ok := strings.Cut(line, " "); ok {
				all[strings.TrimPrefix(name, "."+root+oid+".")] = strings.Trim(value, `"`)
			}
		}
		return all
	}
	nets, places, instances, ages, whys := column("2.1.2"), column("3.1.2"), column("6.1.2"), column("6.1.3"), column("6.1.6")
	now := time.Now()
	for index, instance := range instances {
		parts := strings.Split(index, ".")
		if len(parts) != 3 {
			continue
		}
		out = append(out, seen{Held{nets[parts[0]], instance, strings.TrimSuffix(places[parts[0]+"."+parts[1]], "/in"), now.UnixMilli() - 1000*number(ages[index])}, whys[index]})
	}
	return out
}

// fetch returns what the page shows of the places before nodes, by its API.
func (p *Page) fetch(nodes [][2]string) (out []seen) {
	for _, n := range nodes {
		net, node := n[0], n[1]
		var place struct {
			Stuck []struct {
				Instance string
				Injected time.Time
				Waits    []struct{ Text string }
			}
		}
		query := url.Values{"net": {net}, "place": {node + "/in"}}
		if json.Unmarshal([]byte(p.run("curl", "-s", "http://"+p.web+"/api/v1/place?"+query.Encode())), &place) != nil {
			continue
		}
		for _, s := range place.Stuck {
			one := seen{Held: Held{net, s.Instance, node, s.Injected.UnixMilli()}}
			for _, w := range s.Waits {
				one.why += w.Text + "; "
			}
			out = append(out, one)
		}
	}
	return out
}

var oldestLine = regexp.MustCompile(`(?m)^petrinet_place_oldest_token_age_seconds\{net="([^"]*)",place="([^"]*)/in"\} (\S+)$`)

// oldest returns the ages of the oldest tokens in Prometheus' format, by net and node,
// as times.
func (p *Page) oldest() map[[2]string]int64 {
	out := map[[2]string]int64{}
	now := time.Now()
	for _, m := range oldestLine.FindAllStringSubmatch(p.run("curl", "-s", "http://"+p.web+"/metrics"), -1) {
		if age, err := strconv.ParseFloat(m[3], 64); err == nil && age > 0 {
			out[[2]string{m[1], m[2]}] = now.UnixMilli() - int64(age*1000)
		}
	}
	return out
}

// Faces returns how what SNMP, Prometheus and the page show differs from what the
// engine's API reports: where each instance is, since when to the second, and why.
// whys are parts of what tokens of the net stuck wait for, by node. A second more is
// for the asking.
func (p *Page) Faces(want []Held, whys map[string][]string) string {
	var nodes [][2]string
	first := map[[2]string]int64{}
	for _, h := range want {
		key := [2]string{h.Net, h.Node}
		at, seen := first[key]
		if !seen {
			nodes = append(nodes, key)
		}
		if !seen || h.Since < at {
			first[key] = h.Since
		}
	}
	for face, got := range map[string][]seen{"SNMP": p.walk(), "the page": p.fetch(nodes)} {
		if d := compare(slices.Clone(want), got, whys); d != "" {
			return face + ": " + d
		}
	}
	got := p.oldest()
	for key, at := range first {
		if !near(got[key], at) {
			return fmt.Sprintf("Prometheus: %v at %d; expected %d", key, got[key], at)
		}
	}
	return ""
}

// Disconnected returns "" if the adapter's own metric of that name is 0.
func (p *Page) Disconnected(metric string) string {
	for line := range strings.Lines(p.run("curl", "-s", "http://"+p.own+"/metrics")) {
		if line == metric+" 0\n" {
			return ""
		}
	}
	return metric + " is not 0"
}

func near(a, b int64) bool { return -2000 <= a-b && a-b <= 2000 }

func compare(want []Held, got []seen, whys map[string][]string) string {
	order := func(a, b Held) int {
		return cmp.Or(cmp.Compare(a.Net, b.Net), cmp.Compare(a.Node, b.Node), cmp.Compare(a.Instance, b.Instance), cmp.Compare(a.Since, b.Since))
	}
	slices.SortFunc(want, order)
	slices.SortFunc(got, func(a, b seen) int { return order(a.Held, b.Held) })
	if len(want) != len(got) {
		return fmt.Sprintf("%d tokens; expected %d: %v", len(got), len(want), got)
	}
	for i, w := range want {
		g := got[i]
		if w.Net != g.Net || w.Node != g.Node || w.Instance != g.Instance || !near(g.Since, w.Since) {
			return fmt.Sprintf("%v; expected %v", g.Held, w)
		}
		for _, why := range whys[g.Node] {
			if g.Net == "stuck" && !strings.Contains(g.why, why) {
				return fmt.Sprintf("%s waits for %q; expected %q", g.Node, g.why, why)
			}
		}
	}
	return ""
}
