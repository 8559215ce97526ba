// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCommittedFilesAreCurrent(t *testing.T) {
	files, err := Files(Options{})
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path)
		committed, err := os.ReadFile(filepath.FromSlash(f.Path))
		if err != nil {
			t.Errorf("%v; make generate writes it", err)
			continue
		}
		if diff := cmp.Diff(string(committed), string(f.Content)); diff != "" {
			t.Errorf("%s is not what make generate writes (-committed +generated)\n%.2000s", f.Path, diff)
		}
	}
	for _, dir := range []string{"grafana", "prometheus", "alertmanager", "kubernetes"} {
		there, err := filepath.Glob(dir + "/*")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range there {
			if !slices.Contains(paths, filepath.ToSlash(path)) {
				t.Errorf("%s is not generated; want no file beside the generated ones", path)
			}
		}
	}
}

func TestGenerateTouchesOnlyWhatChanged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	first, err := Generate(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(first[0].Path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	second, err := Generate(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range first {
		if !first[i].Changed || second[i].Changed != (i == 0) {
			t.Errorf("%s: changed %v at first, %v then", first[i].Path, first[i].Changed, second[i].Changed)
		}
	}
}

func TestGenerateSaysWhatItCannotWrite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Generate(file, Options{}); err == nil || !strings.Contains(err.Error(), "writing dashboards") {
		t.Errorf("the error is %v", err)
	}
}

func TestOptionsSayWhereRunbooksAreAndWhichJobItIs(t *testing.T) {
	files, err := Files(Options{Runbooks: "../runbooks/", Job: "nets"})
	if err != nil {
		t.Fatal(err)
	}
	alerts := string(files[len(files)-1].Content)
	for _, want := range []string{"runbook_url: ../runbooks/tokenStuck.md\n", `up{job="nets"} == 0`} {
		if !strings.Contains(alerts, want) {
			t.Errorf("the alerts have no %s", want)
		}
	}
}

func TestExpandEscapesForQuotedText(t *testing.T) {
	v := Variables{"net": `a"b\c`, "__rate_interval": "1m"}
	got := v.Expand(`rate(x{net=~"$net",place="${place}"}[$__rate_interval])`)
	if want := `rate(x{net=~"a\"b\\c",place="${place}"}[1m])`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestCommandWritesTheCommittedFiles(t *testing.T) {
	dir := t.TempDir()
	out, err := exec.CommandContext(t.Context(), "go", "run", "../cmd/pnagent", "dashboards", "--dir", dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	files, err := Files(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		written, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(f.Path)))
		if err != nil || string(written) != string(f.Content) || !strings.Contains(string(out), filepath.FromSlash(f.Path)) {
			t.Errorf("%s: got other content than the generated, or no line of output: %v\n%s", f.Path, err, out)
		}
	}
}

// Grafana takes a list that is there for a list: of null it reads the elements,
// and shows nothing of the panel. Only thresholds may be null: the first one has
// no value, for minus infinity.
func TestNoListIsNull(t *testing.T) {
	for _, d := range All() {
		text, err := d.JSON()
		if err != nil {
			t.Fatal(err)
		}
		var model any
		if err := json.Unmarshal(text, &model); err != nil {
			t.Fatal(err)
		}
		for _, path := range nulls(model, "") {
			if !strings.HasSuffix(path, "/steps/0/value") {
				t.Errorf("%s is null in %s", path, d.File)
			}
		}
	}
}

// nulls returns where a document is null.
func nulls(v any, path string) (found []string) {
	switch v := v.(type) {
	case nil:
		return []string{path}
	case map[string]any:
		for key, value := range v {
			found = append(found, nulls(value, path+"/"+key)...)
		}
	case []any:
		for i, value := range v {
			found = append(found, nulls(value, fmt.Sprint(path, "/", i))...)
		}
	}
	return found
}

// The set-up of examples/compose sends all alerts to a mailbox without TLS.
func TestTheSetUpOfComposeIsCurrent(t *testing.T) {
	routing, err := alertmanagerFile(Options{Team: []string{"mail"}, Pager: []string{"mail"}}.filled())
	if err != nil {
		t.Fatal(err)
	}
	text, err := write(routing)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(string(text), "smtp_smarthost: localhost:25\n", "smtp_smarthost: mail:1025\n  smtp_require_tls: false\n", 1)
	path := filepath.Join("..", "examples", "compose", "alertmanager.yaml")
	is, err := os.ReadFile(path)
	if err != nil || string(is) != want {
		t.Errorf("%v\n%s", err, cmp.Diff(want, string(is)))
	}
}

func TestAnUnknownReceiverIsRefused(t *testing.T) {
	if _, err := Files(Options{Team: []string{"pigeon"}}); !errors.Is(err, ErrReceiver) || !strings.Contains(err.Error(), "mail, opsgenie, pagerduty, slack, teams, webhook") {
		t.Errorf("%v", err)
	}
}
