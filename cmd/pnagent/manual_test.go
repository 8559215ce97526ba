// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	_ "embed"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"github.com/alecthomas/kong"
)

// manualDir is where packaging/prepare wants the manual pages of a package.
var manualDir = flag.String("manual", "", "directory to write manual pages into")

//go:embed testdata/manual.tmpl
var manualTemplate string

// manualPages returns a page of section 1 for the program and one for each command, by the name
// of its file, from the same source as --help.
func manualPages(t *testing.T) map[string][]byte {
	t.Helper()
	parser, err := kong.New(newCommandLine(), kong.Name("pnagent"), settings(&values{}))
	if err != nil {
		t.Fatal(err)
	}
	page := template.Must(template.New("manual").Funcs(template.FuncMap{
		"name":  func(command *kong.Node) string { return strings.ReplaceAll(command.FullPath(), " ", "-") },
		"roff":  roff,
		"upper": strings.ToUpper,
	}).Parse(manualTemplate))
	pages := map[string][]byte{}
	for _, command := range append(parser.Model.Leaves(true), parser.Model.Node) {
		var out bytes.Buffer
		if err := page.Execute(&out, map[string]any{
			"Command": command, "Leaves": parser.Model.Leaves(true), "Shared": parser.Model.Flags, "Rule": strings.TrimSpace(environmentRule),
		}); err != nil {
			t.Fatal(err)
		}
		pages[strings.ReplaceAll(command.FullPath(), " ", "-")+".1"] = out.Bytes()
	}
	return pages
}

// roff returns text that groff prints as it is.
func roff(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(strings.TrimSpace(text)), "\n")
	for i, line := range lines {
		switch {
		case line == "":
			lines[i] = ".PP"
		case strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'"):
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

// Each command has a manual page that man reads without a warning, with each of its flags.
func TestEachCommandHasAManualPage(t *testing.T) {
	pages := manualPages(t)
	for name, page := range pages {
		if *manualDir != "" {
			if err := os.WriteFile(filepath.Join(*manualDir, name), page, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	serve := string(pages["pnagent-serve.1"])
	for _, want := range []string{".TH PNAGENT-SERVE 1", `\fB\-\-nats\fR`, `\fB\-\-log.level\fR`, "pnagent serve \\-\\-nats nats://"} {
		if !strings.Contains(serve, want) {
			t.Errorf("the page of serve lacks %q", want)
		}
	}
	if root := string(pages["pnagent.1"]); !strings.Contains(root, `\fBpnagent attach sql\fR`) || strings.Contains(root, `\fB\-\-nats\fR`) {
		t.Errorf("the page of pnagent has no list of commands, or flags of one:\n%s", root)
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("groff is not installed; it would check the pages")
	}
	for name, page := range pages {
		check := exec.CommandContext(t.Context(), groff, "-man", "-ww", "-z", "-rLL=200n", "-K", "utf8")
		check.Stdin = bytes.NewReader(page)
		if said, err := check.CombinedOutput(); err != nil || len(said) > 0 {
			t.Errorf("%s: %v %s", name, err, said)
		}
	}
}
