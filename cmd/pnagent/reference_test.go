// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/attach"
	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/metrics"
	"github.com/pnagent/pnagent/sidecar"
	"github.com/pnagent/pnagent/stats"
)

var update = flag.Bool("update", false, "write docs/reference, as make generate does")

// The pages of docs/reference, and a table of docs/attach/README.md, are made from what the program
// itself is made from: families, objects, flags and adapters.
func TestTheReferenceIsCurrent(t *testing.T) {
	for name, text := range map[string]string{
		"reference/metrics.md": metricsPage(), "reference/command-line.md": commandPage(t), "attach/README.md": attachPage(t),
	} {
		path := filepath.Join("..", "..", "docs", name)
		if *update {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		is, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(text, string(is)); d != "" {
			t.Errorf("docs/%s is not current; run make generate:\n%s", name, d)
		}
	}
}

// attachPage returns docs/attach/README.md. Of its tables, the one of commands has the looks of the adapters, and in the one
// of ways the rows of the adapters are behind those of the SDK and the wire.
func attachPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "attach", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var looks, ways strings.Builder
	for _, a := range adapters() {
		for _, l := range a.(attach.Adapter).Looks() {
			fmt.Fprintf(&looks, "| %s | `%s` |\n", l.Engine, l.Command)
		}
		for _, r := range a.(attach.Adapter).Rows() {
			fmt.Fprintf(&ways, "| %s |\n", strings.Join(r[:], " | "))
		}
	}
	text := string(page)
	for head, rows := range map[string]string{"| your engine | command |\n|---|---|\n": looks.String(), "| [the wire](../wire.md) |": ways.String()} {
		before, rest, has := strings.Cut(text, head)
		line := ""
		if !strings.HasSuffix(head, "\n") {
			line, rest, _ = strings.Cut(rest, "\n")
			line += "\n"
		}
		_, after, ends := strings.Cut("\n"+rest, "\n\n")
		if !has || !ends {
			t.Fatalf("docs/attach/README.md has no table with %q", head)
		}
		text = before + head + line + rows + "\n" + after
	}
	return text
}

// cell is text that fits into a table of Markdown.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(strings.TrimSpace(text))
}

func quoted(list []string) string {
	marked := make([]string, len(list))
	for i, s := range list {
		marked[i] = "`" + s + "`"
	}
	return strings.Join(marked, ", ")
}

func metricsPage() string {
	var nets, ours, engines strings.Builder
	for _, f := range metrics.Families() {
		out := &ours
		if strings.HasPrefix(f.Name, "petrinet_") {
			out = &nets
		}
		fmt.Fprintf(out, "| `%s` | %s | %s | %s |\n", f.Name, f.Type, quoted(f.Labels), cell(f.Help))
	}
	for _, d := range sidecar.Families() {
		fmt.Fprintf(&ours, "| `%s` | %s | %s | %s |\n", d.Name, d.Type, quoted(d.Labels), cell(d.Help))
	}
	for _, d := range new(engine.Engine).Metrics().Families() {
		fmt.Fprintf(&engines, "| `%s` | %s | %s | %s |\n", d.Name, d.Type, quoted(d.Labels), cell(d.Help))
	}
	var ages []string
	for _, step := range stats.AgeSteps() {
		ages = append(ages, step.Label)
	}
	const head = "| family | type | labels | what |\n|---|---|---|---|\n"
	return "# Metrics\n\nWhat `/metrics` has, in the order in which a net's budget of series is spent. Made from the program; see " +
		"[for SREs](../sres.md) for how to scrape and what to look at.\n\nLabel values are the ids of the net, as they are. A family that no source of a " +
		"net fills in is absent for that net, never 0. Counters and histograms carry the time since when they are added up as their created " +
		"timestamp. `age` is one of " + quoted(ages) + ".\n\n## Of nets\n\n" + head + nets.String() +
		"\n## Of the sidecar\n\n" + head + ours.String() +
		"\nBeside these there are the families of the Go runtime (`go_…`) and of the process (`process_…`).\n" +
		"\n## Of `pnagent engine`\n\nWhat `/metrics` of `pnagent engine --web.listen-address` has.\n\n" + head + engines.String()
}

// A dashboard or an alert that names a family of pnagent which does not exist
// would show nothing, and never fire.
func TestDashboardsAndAlertsNameFamiliesOfPnagentThatExist(t *testing.T) {
	known := map[string]bool{}
	for _, f := range metrics.Families() {
		known[f.Name] = true
	}
	for _, d := range sidecar.Families() {
		known[d.Name] = true
	}
	named := 0
	for _, pattern := range []string{"grafana/*.json", "prometheus/*.yaml"} {
		files, err := filepath.Glob(filepath.Join("..", "..", "dashboards", filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range regexp.MustCompile(`\bpnagent_[a-z_]+\b`).FindAllString(string(text), -1) {
				named++
				if !known[name] {
					t.Errorf("%s names %s, which no part of pnagent has", file, name)
				}
			}
		}
	}
	if named < 20 {
		t.Errorf("dashboards and rules name %d families of pnagent; expected 20 or more", named)
	}
}

func commandPage(t *testing.T) string {
	t.Helper()
	parser, err := kong.New(newCommandLine(), kong.Name("pnagent"), settings(&values{}))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	out.WriteString("# Command line\n\nEvery command and flag, from the same source as `--help`. A key of `serve`'s configuration file is the name of a flag of " +
		"`serve` without the dashes; `pnagent check-config FILE` checks one. Exit codes: 0 done, 1 failed, 2 wrong usage. " +
		strings.ReplaceAll(strings.TrimSpace(environmentRule), "\n", " ") + " " +
		"A duration is numbers with the units ms, s, m, h, d (24 hours) and w (7 days), such as 90s, 1h30m or 7d, here as in every file that pnagent reads.\n\n" +
		"## Flags of every command\n\n")
	flagTable(&out, parser.Model.Flags)
	serve := parser.Model.Children[slices.IndexFunc(parser.Model.Children, func(n *kong.Node) bool { return n.Name == "serve" })]
	for _, command := range parser.Model.Leaves(true) {
		fmt.Fprintf(&out, "\n## %s\n\n%s\n", command.FullPath(), cell(command.Help))
		if command.Detail != "" {
			fmt.Fprintf(&out, "\n%s\n", cell(command.Detail))
		}
		var own []*kong.Flag
		ofServe := 0
		for _, f := range command.Flags {
			if slices.ContainsFunc(serve.Flags, func(s *kong.Flag) bool { return s.Name == f.Name && s.Help == f.Help }) {
				ofServe++
			}
			if !f.Hidden {
				own = append(own, f)
			}
		}
		positional := command.Positional
		if command != serve && ofServe == len(serve.Flags) { // it takes all of them, which the reference has once
			fmt.Fprintf(&out, "\nIt takes the arguments and all flags of [`pnagent serve`](#pnagent-serve), and:\n")
			positional = nil
			own = slices.DeleteFunc(own, func(f *kong.Flag) bool {
				return slices.ContainsFunc(serve.Flags, func(s *kong.Flag) bool { return s.Name == f.Name })
			})
		}
		for i, p := range positional {
			if i == 0 {
				out.WriteString("\n| argument | what |\n|---|---|\n")
			}
			fmt.Fprintf(&out, "| `%s` | %s |\n", p.Summary(), cell(p.Help))
		}
		if len(own) > 0 {
			out.WriteString("\n")
			flagTable(&out, own)
		}
	}
	return out.String()
}

func flagTable(out *bytes.Buffer, flags []*kong.Flag) {
	out.WriteString("| flag | default | what |\n|---|---|---|\n")
	for _, f := range flags {
		name := "--" + f.Name
		if f.PlaceHolder != "" {
			name += " " + f.PlaceHolder
		}
		if f.Short != 0 {
			name = fmt.Sprintf("-%c, %s", f.Short, name)
		}
		standard := f.Default
		if standard != "" {
			standard = "`" + standard + "`"
		}
		fmt.Fprintf(out, "| `%s` | %s | %s |\n", strings.TrimSpace(name), standard, cell(f.Help))
	}
}

// SECURITY.md names only flags that a command has. A default stands behind a flag, in
// parentheses, and is that of a command.
func TestTheFlagsInSecurityExistWithTheirDefaults(t *testing.T) {
	parser, err := kong.New(newCommandLine(), kong.Name("pnagent"), settings(&values{}))
	if err != nil {
		t.Fatal(err)
	}
	defaults := map[string][]string{}
	for _, command := range parser.Model.Leaves(true) {
		for _, flags := range command.AllFlags(true) {
			for _, f := range flags {
				defaults[f.Name] = append(defaults[f.Name], f.Default)
			}
		}
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := strings.ReplaceAll(string(text), "nats-server --config", "nats-server") // not a flag of pnagent
	named, shown := 0, 0
	for _, m := range regexp.MustCompile("--([a-z][a-z0-9.-]*[a-z0-9])(?:` \\(`([^`]*)`\\))?").FindAllStringSubmatch(page, -1) {
		named++
		is, ok := defaults[m[1]]
		if !ok {
			t.Errorf("SECURITY.md names --%s, which no command has", m[1])
		}
		if m[2] == "" {
			continue
		}
		shown++
		if !slices.Contains(is, m[2]) {
			t.Errorf("SECURITY.md gives --%s the default %s; expected one of %q", m[1], m[2], is)
		}
	}
	if named < 20 || shown < 9 {
		t.Errorf("SECURITY.md names %d flags, %d with a default; expected 20 and 9 or more", named, shown)
	}
}

// Every link between pages of the project leads somewhere.
func TestLinksInTheDocumentsLeadSomewhere(t *testing.T) {
	root := filepath.Join("..", "..")
	var pages []string
	for _, pattern := range []string{"*.md", "*/*.md", "*/*/*.md", "*/*/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading := regexp.MustCompile(`(?m)^#+ (.*)$`)
	anchors := func(text string) (names []string) {
		for _, h := range heading.FindAllStringSubmatch(text, -1) {
			name := regexp.MustCompile("[^a-z0-9 _-]").ReplaceAllString(strings.ToLower(h[1]), "")
			names = append(names, strings.ReplaceAll(name, " ", "-"))
		}
		return names
	}
	links := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			path, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(path, "://") || strings.HasPrefix(path, "mailto:") {
				continue
			}
			links++
			target := page
			if path != "" {
				target = filepath.Join(filepath.Dir(page), path)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which is not there", page, m[1])
				continue
			}
			if anchor == "" || !strings.HasSuffix(target, ".md") {
				continue
			}
			there, err := os.ReadFile(target)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(anchors(string(there)), anchor) {
				t.Errorf("%s links to %s, which has no such heading", page, m[1])
			}
		}
	}
	if links < 50 {
		t.Errorf("only %d links were found in %d pages", links, len(pages))
	}
}
