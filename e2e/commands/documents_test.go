// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/porttest"
)

// forAPage bounds how long the commands of one page may take, on a machine that others use too.
const forAPage = 4 * time.Minute

// largePeers are the pages with commands for etcd and RabbitMQ, which are typed with the
// build tag peers.
var largePeers = []string{"docs/attach/dipen.md", "docs/attach/scrape.md"}

// TestTheCommandsOfTheDocuments types every command of the documents as a reader
// would, page by page, in a directory with the files of a clone. A block of sh
// holds commands. A block of console holds commands behind "$ ", and below each
// what it prints. Commands that are not typed are in notTyped, with the reason.
func TestTheCommandsOfTheDocuments(t *testing.T) {
	t.Parallel()
	typed := map[int]bool{} // indices of notTyped
	pages := handWritten(t)
	for _, page := range pages {
		for _, c := range commandsOf(t, page) {
			if i := exempt(page, c.line); i >= 0 {
				typed[i] = true
			}
		}
	}
	for i, e := range notTyped {
		if !typed[i] {
			t.Errorf("%s has no command %q; remove it from notTyped", e.page, e.command)
		}
	}
	for _, page := range pages {
		commands := commandsOf(t, page)
		if len(commands) == 0 || slices.Contains(largePeers, page) {
			continue
		}
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			typePage(t, page, commands, beside[page])
		})
	}
}

// handWritten returns the documents that are not generated, relative to the root.
func handWritten(t *testing.T) (pages []string) {
	t.Helper()
	pages = []string{"CONTRIBUTING.md", "README.md", "SECURITY.md"}
	for _, dir := range []string{"docs", "examples"} {
		err := filepath.WalkDir(filepath.Join("..", "..", dir), func(path string, _ os.DirEntry, err error) error {
			if page := strings.TrimPrefix(filepath.ToSlash(path), "../../"); strings.HasSuffix(page, ".md") && !strings.HasPrefix(page, "docs/reference/") {
				pages = append(pages, page)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return pages
}

// command is one command of a page.
type command struct {
	line string // where it spans lines, with line ends
	want string // what the page shows of its output; empty where it shows nothing
	at   int    // its line in the page
}

func commandsOf(t *testing.T, page string) (all []command) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", page))
	if err != nil {
		t.Fatal(err)
	}
	kind, part := "", command{}
	end := func() {
		if part.line != "" {
			part.line = strings.TrimSuffix(part.line, "\n")
			all = append(all, part)
		}
		part = command{}
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		fence, isFence := strings.CutPrefix(strings.TrimSpace(line), "```")
		prompt, isPrompt := strings.CutPrefix(line, "$ ")
		switch {
		case isFence && kind == "":
			kind = fence + " "
		case isFence:
			end()
			kind = ""
		case kind == "sh ":
			if part.line == "" {
				part.at = n
			}
			if part.line += line; complete(t, part.line) {
				end()
			}
		case kind == "console " && isPrompt:
			end()
			part = command{line: prompt, at: n}
		case kind == "console " && part.want == "" && !complete(t, part.line):
			part.line += line
		case kind == "console ":
			part.want += line
		}
	}
	return slices.DeleteFunc(all, func(c command) bool { return comment.MatchString(c.line) })
}

// comment matches lines that hold no command.
var comment = regexp.MustCompile(`^\s*(#[^\n]*)?$`)

// complete reports whether a shell would run what was typed so far.
func complete(t *testing.T, text string) bool {
	t.Helper()
	if strings.HasSuffix(text, "\\\n") {
		return false
	}
	if !strings.ContainsAny(text, "'\"<({") && !regexp.MustCompile(`\b(do|then)\b`).MatchString(text) {
		return true
	}
	out, err := exec.Command("bash", "-n", "-c", text).CombinedOutput()
	return err == nil && len(out) == 0
}

// exempt returns the index in notTyped of a command, or -1.
func exempt(page, line string) int {
	return slices.IndexFunc(notTyped, func(e exemption) bool {
		matches, err := filepath.Match(e.page, page)
		return err == nil && matches && strings.HasPrefix(strings.TrimLeft(line, " "), e.command)
	})
}

// typePage types the commands of a page into one shell, beside what begin starts.
func typePage(t *testing.T, page string, commands []command, begin starter) {
	t.Helper()
	ports := newPorts(t)
	bin, env := t.TempDir(), []string(nil)
	if begin != nil {
		env = begin(t, ports, bin)
	}
	ctx, cancel := context.WithTimeout(t.Context(), forAPage)
	defer cancel()
	var sh *shell
	for _, c := range commands {
		line := c.line
		if i := exempt(page, line); i >= 0 {
			if needs := notTyped[i].needs; needs != "" {
				if _, err := os.Stat(filepath.Join(os.Getenv(suites), needs)); err != nil || os.Getenv(suites) == "" {
					t.Skipf("%s:%d and what follows is not typed: $%s has no %s", page, c.at, suites, needs)
				}
			}
			line = notTyped[i].typed(t, line)
			if line == "" {
				continue
			}
		}
		if missing := notInstalled(line); missing != "" {
			t.Logf("%s:%d is not typed: %s is not installed", page, c.at, missing)
			continue
		}
		if sh == nil {
			sh = newShell(t, ports, bin, env)
		}
		sh.types(ctx, t, fmt.Sprintf("%s:%d", page, c.at), ports.free(line), c.want, func(out string) string {
			return normal(ports.back.Replace(out), random[page])
		})
	}
}

// programs are what commands need beside what every system has.
var programs = regexp.MustCompile(`\b(snmp(?:get|walk|bulkwalk|table|delta)|jq|curl|python3|cc|protoc|openssl)\b`)

// notInstalled returns a program that a command needs and that is not here.
func notInstalled(line string) string {
	for _, name := range programs.FindAllString(line, -1) {
		if _, err := exec.LookPath(name); err != nil {
			return name
		}
	}
	return ""
}

// ports has a free port for each one that documents name.
type ports struct{ there, back *strings.Replacer }

func newPorts(t *testing.T) ports {
	t.Helper()
	var there, back []string
	for _, port := range []string{"4222", "9797", "9798", "9799", "1161", "1162", "2379", "2380", "15692"} {
		free := porttest.Port(t)
		there, back = append(there, port, free), append(back, free, port)
	}
	return ports{strings.NewReplacer(there...), strings.NewReplacer(back...)}
}

// defaults add what a command leaves to a default that other processes use.
var defaults = []struct{ command, flags, unless string }{
	{"nats-server", "-a 127.0.0.1 -p 4222 -sd jetstream", " -p "},
	{"pnagent serve", "--web.listen-address 127.0.0.1:9797", "--web.listen-address"},
	{"pnagent demo", "--http 127.0.0.1:9797", "--http"},
	{"pnagent demo", "--snmp 127.0.0.1:1161", "--snmp"},
	{"pnagent top", "--url http://127.0.0.1:9797", "--url"},
	{"pnagent dump", "--url http://127.0.0.1:9797", "--url"},
	{"pnagent report", "--url http://127.0.0.1:9797", "--url"},
}

// free returns a command with free ports.
func (p ports) free(line string) string {
	for _, d := range defaults {
		if i := strings.Index(line, d.command); i >= 0 && !strings.Contains(line, d.unless) && !strings.Contains(line, d.command+" \\") {
			line = line[:i] + d.command + " " + d.flags + line[i+len(d.command):]
		}
	}
	return p.there.Replace(line)
}

// shell is a bash in a directory with the files of a clone, and with the programs
// of bin. Programs that it runs end with the test.
type shell struct {
	dir    string
	in     io.Writer
	status chan string // of each command, as it ends
	n      int
}

func newShell(t *testing.T, ports ports, bin string, env []string) *shell {
	t.Helper()
	dir := t.TempDir()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, copied := range []string{"examples", "mibs"} {
		if err := os.CopyFS(filepath.Join(dir, copied), os.DirFS(filepath.Join(root, copied))); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink(filepath.Join(root, "telemetry"), filepath.Join(dir, "telemetry")),
		os.Symlink(filepath.Join(root, "docs"), filepath.Join(dir, "docs")),
		os.Symlink(kit.Built().Pnagent, filepath.Join(bin, "pnagent")), os.Symlink(kit.Built().NATS, filepath.Join(bin, "nats-server")),
		os.WriteFile(filepath.Join(bin, "nats"), []byte(natsRequest), 0o755)); err != nil {
		t.Fatal(err)
	}
	status, childStatus, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", "--norc", "--noprofile")
	cmd.Dir, cmd.SysProcAttr, cmd.ExtraFiles = dir, &syscall.SysProcAttr{Setpgid: true}, []*os.File{childStatus}
	cmd.Env = append(kit.CleanEnv(), "PATH="+bin+":"+os.Getenv("PATH"), "ROOT="+root, "SUITES="+os.Getenv(suites), "NATS_URL="+ports.there.Replace("nats://127.0.0.1:4222"))
	cmd.Env = append(cmd.Env, env...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = childStatus.Close() // the shell has it
	s := &shell{dir: t.TempDir(), in: in, status: make(chan string)}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(status); lines.Scan(); {
			s.status <- lines.Text()
		}
	}()
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // all that it has started, too
		_ = cmd.Wait()                                      // how it ended was just decided
		_ = status.Close()
		for open := true; open; { // the reader may hold a line
			select {
			case <-s.status:
			case <-read:
				open = false
			}
		}
		s.report(t)
	})
	return s
}

// natsRequest is what the documents need of the command line of NATS:
// nats req --raw SUBJECT BODY.
const natsRequest = `#!/usr/bin/env bash
set -eu
at=${NATS_URL#nats://} subject=$3 body=$4
exec 3<>"/dev/tcp/${at%:*}/${at#*:}"
printf 'CONNECT {"verbose":false}\r\nSUB reply.%d 1\r\nPUB %s reply.%d %d\r\n%s\r\n' $$ "$subject" $$ "${#body}" "$body" >&3
while IFS= read -r -t 5 line <&3; do
  case $line in
    MSG*) IFS= read -r line <&3; echo "${line%$'\r'}"; exit ;;
    PING*) printf 'PONG\r\n' >&3 ;;
  esac
done
exit 1
`

// report shows what programs wrote where the test failed or one crashed.
func (s *shell) report(t *testing.T) {
	t.Helper()
	for n := range s.n {
		text, err := os.ReadFile(filepath.Join(s.dir, fmt.Sprint(n+1, ".err")))
		if err != nil {
			continue
		}
		if kit.Crashed(string(text)) {
			t.Errorf("command %d crashed", n+1)
		}
		if t.Failed() && len(text) > 0 {
			t.Logf("command %d wrote to stderr:\n%.3000s", n+1, text)
		}
	}
}

// types runs a command until it succeeds and prints what the page shows: a
// program that was started before it may not be there yet.
func (s *shell) types(ctx context.Context, t *testing.T, at, line, want string, normal func(string) string) {
	t.Helper()
	match := shown(normal(want))
	s.n++
	last := "it does not end"
	for {
		status, out, errs, err := s.run(ctx, line)
		if err != nil {
			t.Fatalf("%s: %s: %v; before that %s\nwhere the page shows\n%s", at, line, err, last, normal(want))
		}
		if want == "" && status == "0" || want != "" && (match.MatchString(normal(out)+"\n") || match.MatchString(normal(out+errs)+"\n")) {
			return
		}
		last = fmt.Sprintf("it ended with %s and printed\n%s\n%s", status, normal(out), errs)
		select {
		case <-ctx.Done():
		case <-time.After(10 * kit.PollEvery):
		}
	}
}

// run runs a command once.
func (s *shell) run(ctx context.Context, line string) (status, out, errs string, err error) {
	base := filepath.Join(s.dir, fmt.Sprint(s.n))
	if _, err := fmt.Fprintf(s.in, "{ %s\n} >%s.out 2>%s.err </dev/null 3>&-\necho $? >&3\n", line, base, base); err != nil {
		return "", "", "", err
	}
	select {
	case status = <-s.status:
	case <-ctx.Done():
		return "", "", "", ctx.Err()
	}
	stdout, err := os.ReadFile(base + ".out")
	if err != nil {
		return "", "", "", err
	}
	stderr, err := os.ReadFile(base + ".err")
	return status, string(stdout), string(stderr), err
}

// varying are parts of an output that differ from run to run.
var varying = []struct {
	pattern *regexp.Regexp
	is      string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?`), "TIME"},
	{regexp.MustCompile(`\b\d{2}:\d\d:\d\d\b`), "TIME"},
	{regexp.MustCompile(`\d+(\.\d+){2,}`), "$0"},    // OIDs and addresses stay
	{regexp.MustCompile(`\b[0-9a-f]{16}\b`), "HEX"}, // it can end like an age
	{regexp.MustCompile(`\b\d+(\.\d+)?(µs|ms|s|m|h|d)\b`), "AGE"},
	{regexp.MustCompile(`Gauge32: \d+`), "Gauge32: N"},
	{regexp.MustCompile(`(age_seconds"?[^ :]*[ :]+)\d+(\.\d+)?`), "${1}N"},
	{regexp.MustCompile(`([ :(])\d+\.\d+(e\+\d+)?\b`), "${1}N"},
	{regexp.MustCompile(`\b\d{6,}\b`), "N"},
	{regexp.MustCompile(`[ \t]+`), " "},
	{regexp.MustCompile(`(?m) $`), ""},
}

// normal returns an output without what differs from run to run, on any page and
// on this one.
func normal(out string, random *regexp.Regexp) string {
	for _, v := range varying {
		out = v.pattern.ReplaceAllString(out, v.is)
	}
	if random != nil {
		out = random.ReplaceAllString(out, "N")
	}
	return strings.Trim(out, "\n")
}

// shown returns what matches an output that a page shows, as normal returns it. There … is any text,
// and on a line of its own any lines.
func shown(want string) *regexp.Regexp {
	pattern := regexp.QuoteMeta(want + "\n")
	pattern = regexp.MustCompile("(?m)^…\n").ReplaceAllString(pattern, "(?:.*\n)*?")
	return regexp.MustCompile("^" + strings.ReplaceAll(pattern, "…", ".*") + "$")
}
