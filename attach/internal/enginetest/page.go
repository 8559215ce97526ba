// SPDX-License-Identifier: Apache-2.0

//go:build peers

package enginetest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	diff "github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/internal/buildtest"
	"github.com/pnagent/pnagent/internal/porttest"
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

	// In is what the id of a place ends with after that of its node.
	In string

	setup, adapter string               // commands before the one that starts the adapter, and that one
	looked         bool                 // the engine was looked at
	raised         map[[2]string]uint32 // alarms of places with tokens, by net and node
	endSidecar     func(syscall.Signal)
	endAdapter     func(syscall.Signal)

	// End ends what was started. The end of the test does, too.
	End func()
}

// Follow types the commands of a document: the first block of a section, which ends with
// the adapter, and before it the sidecar of the document's first block. The section ""
// is the document. Both publish to a NATS server. replace are pairs of what the
// document has and the test has instead of it. It skips the test if a program is not
// there.
func Follow(t *testing.T, document, section, nats string, replace ...string) *Page {
	t.Helper()
	for _, name := range []string{"bash", "curl", "jq", "snmpbulkwalk"} {
		Program(t, name)
	}
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	p := &Page{t: t, In: "/in", dir: t.TempDir(), text: string(text), snmp: porttest.Addr(t), web: porttest.Addr(t), own: porttest.Addr(t)}
	p.build()
	if err := os.WriteFile(filepath.Join(p.dir, "alarms.yaml"), []byte("settle: 1s\ndefaults: {starved: off, stuck: {after: 1s}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.replace = strings.NewReplacer(append(replace, "nats-server &\n", "", "nats://127.0.0.1:4222", nats,
		"127.0.0.1:1161", p.snmp, "127.0.0.1:9797", p.web, "127.0.0.1:9798", p.own,
		"pnagent serve", "exec pnagent serve --alarms alarms.yaml --web.listen-address "+p.web)...)
	sidecar := p.commands("")
	p.setup, p.adapter = p.commands(section)["setup"], p.commands(section)["adapter"]
	if !strings.Contains(p.adapter, "--web.listen-address") {
		p.adapter += " --web.listen-address " + p.own
	}
	p.endSidecar, p.endAdapter = p.begin(sidecar["sidecar"]), p.begin(p.setup+"exec "+p.adapter)
	p.End = sync.OnceFunc(func() {
		p.endAdapter(syscall.SIGTERM)
		p.endSidecar(syscall.SIGTERM)
	})
	t.Cleanup(p.End)
	return p
}

var commandsOf = regexp.MustCompile(`(?s)^(.*?)(pnagent serve [^\n]*\n)?(pnagent attach .*)$`)

// commands returns the parts of the first block of commands of a section: setup, sidecar
// and adapter. The last two run in the foreground.
func (p *Page) commands(section string) map[string]string {
	p.t.Helper()
	text := p.text
	if section != "" {
		_, text, _ = strings.Cut(text, "\n## "+section+"\n")
	}
	found := []string(nil)
	if all := blocks(text, "sh"); len(all) > 0 {
		found = commandsOf.FindStringSubmatch(all[0])
	}
	if found == nil {
		p.t.Fatalf("section %q has no commands that start an adapter", section)
	}
	foreground := func(command string) string { return strings.TrimRight(command, " &\n") }
	return map[string]string{"setup": found[1], "sidecar": foreground(found[2]), "adapter": foreground(found[3])}
}

// build builds pnagent, which the commands of the document run.
func (p *Page) build() {
	p.t.Helper()
	if err := buildtest.Build(p.t.Context(), "", filepath.Join(p.dir, "pnagent"), "github.com/pnagent/pnagent/cmd/pnagent"); err != nil {
		p.t.Fatal(err)
	}
}

// Check returns what the command of the adapter prints with --check.
func (p *Page) Check() string {
	p.t.Helper()
	out, err := p.shell(p.adapter + " --check").CombinedOutput()
	if err != nil {
		p.t.Errorf("--check: %v: %s", err, out)
	}
	return string(out)
}

// Kill kills the adapter, and returns what starts it again.
func (p *Page) Kill() (again func()) {
	p.endAdapter(syscall.SIGKILL)
	p.endAdapter = func(syscall.Signal) {}
	return func() { p.endAdapter = p.begin("exec " + p.adapter) }
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

var (
	numbers    = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`) // differ from run to run
	instanceOf = regexp.MustCompile(`instance=[0-9]+'`)
)

// Printed returns how what a command of the document prints differs from the document,
// but for numbers. The document asks for an instance.
func (p *Page) Printed(instance string) string {
	for _, block := range blocks(p.text, "console") {
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
