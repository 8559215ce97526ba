// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"cmp"
	"encoding/json"
	"fmt"
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

// reader follows docs/attach/sql.md, at free ports and with the database of the
// test.
type reader struct {
	t       *testing.T
	dir     string
	replace *strings.Replacer
	end     func()                // ends what was started
	kill    func() (again func()) // kills the adapter
	snmp    string                // address
	web     string                // address of the sidecar
	page    string
}

// newReader types the first commands of the page, which start the sidecar and the
// adapter.
func newReader(t *testing.T, nats, database string) *reader {
	t.Helper()
	for _, name := range []string{"bash", "curl", "jq", "snmpwalk"} {
		program(t, name)
	}
	text, err := os.ReadFile("../../docs/attach/sql.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "pnagent"), "../../cmd/pnagent").CombinedOutput(); err != nil {
		t.Fatalf("building pnagent: %v\n%s", err, out)
	}
	r := &reader{t: t, dir: dir, page: string(text), snmp: "127.0.0.1:" + freePort(t), web: "127.0.0.1:" + freePort(t)}
	r.replace = strings.NewReplacer("postgres://pnagent:secret@127.0.0.1:5432/camunda", database, "nats-server &\n", "", "nats://127.0.0.1:4222", nats,
		"127.0.0.1:1161", r.snmp, "127.0.0.1:9797", r.web, "127.0.0.1:9798", "127.0.0.1:"+freePort(t),
		"pnagent serve", "pnagent serve --web.listen-address "+r.web)
	commands, adapter, _ := strings.Cut(r.blocks("sh")[0], "pnagent attach")
	adapter = "pnagent attach" + strings.TrimSuffix(strings.TrimRight(adapter, " \n"), "&")
	endSidecar, endAdapter := r.begin(commands+"wait"), r.begin("exec "+adapter)
	r.end = sync.OnceFunc(func() {
		endAdapter(syscall.SIGTERM)
		endSidecar(syscall.SIGTERM)
	})
	t.Cleanup(r.end)
	r.kill = func() (again func()) {
		endAdapter(syscall.SIGKILL)
		endAdapter = func(syscall.Signal) {}
		return func() { endAdapter = r.begin("exec " + adapter) }
	}
	return r
}

// begin types commands that do not end, and returns what ends them.
func (r *reader) begin(commands string) (end func(syscall.Signal)) {
	r.t.Helper()
	cmd := exec.Command("bash", "-c", r.replace.Replace(commands))
	cmd.Dir, cmd.Env = r.dir, append(os.Environ(), "PATH="+r.dir+":"+os.Getenv("PATH"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stdout, cmd.Stderr = r.t.Output(), r.t.Output()
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	return func(s syscall.Signal) {
		if err := syscall.Kill(-cmd.Process.Pid, s); err != nil {
			r.t.Error(err)
		}
		cmd.Wait()
	}
}

// blocks returns the blocks of code of a kind.
func (r *reader) blocks(kind string) (all []string) {
	for _, b := range strings.Split(r.page, "\n```"+kind+"\n")[1:] {
		text, _, _ := strings.Cut(b, "\n```")
		all = append(all, text)
	}
	return all
}

// numbers differ from run to run.
var numbers = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)

// printed returns how what a command of the page prints differs from the page, which
// asks for an instance.
func (r *reader) printed(instance string) string {
	for _, block := range r.blocks("console") {
		for _, part := range strings.Split("\n"+block, "\n$ ")[1:] {
			command, want, _ := strings.Cut(part, "\n")
			cmd := exec.Command("bash", "-o", "pipefail", "-c", strings.ReplaceAll(r.replace.Replace(command), "instance=10'", "instance="+instance+"'"))
			cmd.Dir = r.dir
			out, err := cmd.CombinedOutput()
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
func (r *reader) run(name string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "MIBS=", "SNMPCONFPATH="+os.DevNull, "SNMP_PERSISTENT_FILE="+os.DevNull)
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return string(out)
}

// seen is a token as a face shows it.
type seen struct {
	held
	why string
}

// walk returns what SNMP shows: the table of stuck tokens. Its index is net, place
// and rank.
func (r *reader) walk() (out []seen) {
	const root = "1.3.6.1.4.1.8072.9999.9999.1.1."
	column := func(oid string) map[string]string {
		all := map[string]string{}
		for _, line := range strings.Split(r.run("snmpbulkwalk", "-v2c", "-c", "public", "-Onq", r.snmp, root+oid), "\n") {
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
		age, _ := strconv.ParseInt(ages[index], 10, 64)
		out = append(out, seen{held{nets[parts[0]], instance, strings.TrimSuffix(places[parts[0]+"."+parts[1]], "/in"), now.UnixMilli() - 1000*age}, whys[index]})
	}
	return out
}

// fetch returns what the page shows of the places of a net, by its API.
func (r *reader) fetch(net string, nodes []string) (out []seen) {
	for _, node := range nodes {
		var place struct {
			Stuck []struct {
				Instance string
				Injected time.Time
				Waits    []struct{ Text string }
			}
		}
		if json.Unmarshal([]byte(r.run("curl", "-s", "http://"+r.web+"/api/v1/place?net="+net+"&place="+node+"/in")), &place) != nil {
			continue
		}
		for _, s := range place.Stuck {
			one := seen{held: held{net, s.Instance, node, s.Injected.UnixMilli()}}
			for _, w := range s.Waits {
				one.why += w.Text + "; "
			}
			out = append(out, one)
		}
	}
	return out
}

// oldest returns the ages of the oldest tokens in Prometheus' format, by net and node,
// as times.
func (r *reader) oldest() map[[2]string]int64 {
	out := map[[2]string]int64{}
	now := time.Now()
	line := regexp.MustCompile(`(?m)^petrinet_place_oldest_token_age_seconds\{net="([^"]*)",place="([^"]*)/in"\} (\S+)$`)
	for _, m := range line.FindAllStringSubmatch(r.run("curl", "-s", "http://"+r.web+"/metrics"), -1) {
		if age, err := strconv.ParseFloat(m[3], 64); err == nil && age > 0 {
			out[[2]string{m[1], m[2]}] = now.UnixMilli() - int64(age*1000)
		}
	}
	return out
}

// faces compares what SNMP, Prometheus and the page show with what the engine's API
// reports: where each instance is, since when to the second, and why. whys are what
// tokens of the net stuck wait for, by node. A second more is for the asking.
func (r *reader) faces(want []held, whys map[string][]string) string {
	var nodes []string
	first := map[[2]string]int64{}
	for _, h := range want {
		nodes = append(nodes, h.node)
		key := [2]string{h.net, h.node}
		if at := first[key]; at == 0 || h.since < at {
			first[key] = h.since
		}
	}
	slices.Sort(nodes)
	nodes = slices.Compact(nodes)
	for face, got := range map[string][]seen{"SNMP": r.walk(), "the page": append(r.fetch("stuck", nodes), r.fetch("child", nodes)...)} {
		if d := r.compare(slices.Clone(want), got, whys); d != "" {
			return face + ": " + d
		}
	}
	got := r.oldest()
	for key, at := range first {
		if d := got[key] - at; d < -2000 || d > 2000 {
			return fmt.Sprintf("Prometheus: %v at %d; expected %d", key, got[key], at)
		}
	}
	return ""
}

func (r *reader) compare(want []held, got []seen, whys map[string][]string) string {
	order := func(a, b held) int {
		return cmp.Or(cmp.Compare(a.net, b.net), cmp.Compare(a.node, b.node), cmp.Compare(a.instance, b.instance), cmp.Compare(a.since, b.since))
	}
	slices.SortFunc(want, order)
	slices.SortFunc(got, func(a, b seen) int { return order(a.held, b.held) })
	if len(want) != len(got) {
		return fmt.Sprintf("%d tokens; expected %d: %v", len(got), len(want), got)
	}
	for i, w := range want {
		g := got[i]
		if d := g.since - w.since; w.net != g.net || w.node != g.node || w.instance != g.instance || d < -2000 || d > 2000 {
			return fmt.Sprintf("%+v; expected %+v", g, w)
		}
		for _, why := range whys[g.node] {
			if g.net == "stuck" && !strings.Contains(g.why, why) {
				return fmt.Sprintf("%s waits for %q; expected %q", g.node, g.why, why)
			}
		}
	}
	return ""
}
