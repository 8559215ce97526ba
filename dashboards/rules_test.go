// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/metrics"
)

func promtool(t *testing.T, args ...string) string {
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed (Debian package prometheus)")
	}
	out, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func TestPromtoolFindsNothingInTheRules(t *testing.T) {
	for line := range strings.Lines(promtool(t, "check", "rules", "--lint=all", "--lint-fatal", "prometheus/recordings.yaml", "prometheus/alerts.yaml")) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "Checking ") && !strings.HasPrefix(line, "SUCCESS: ") {
			t.Error(line)
		}
	}
}

const unitTests = "testdata/alerts_test.yaml"

func TestEveryAlertFiresAndResolves(t *testing.T) {
	t.Parallel()
	out := promtool(t, "test", "rules", unitTests)
	if strings.Contains(out, "FAILED") {
		t.Error(out)
	}
	text, err := os.ReadFile(unitTests)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range Alerts(DefaultJob) {
		silent := strings.Count(string(text), "alertname: "+a.Name+"\n")
		fires := regexp.MustCompile(`alertname: `+a.Name+`\n +exp_alerts:`).FindAllString(string(text), -1)
		if silent < 3 || len(fires) == 0 {
			t.Errorf("%s is looked at %d times, and fires in %d of them; expected before, while and after", a.Name, silent, len(fires))
		}
	}
}

func TestEveryAlertSaysWhatAPersonNeeds(t *testing.T) {
	names := map[string]bool{}
	for _, a := range Alerts(DefaultJob) {
		if names[a.Name] {
			t.Errorf("%s is there twice", a.Name)
		}
		names[a.Name] = true
		if (a.For == "") != (a.Kind != 0 || a.Severity == None) || (a.Severity == Warning || a.Severity == Critical || a.Severity == None) == (a.Kind != 0) || !strings.HasSuffix(a.Summary, ".") || !strings.HasSuffix(a.Description, ".") {
			t.Errorf("%s is incomplete: %+v", a.Name, a)
		}
		text, err := os.ReadFile(filepath.Join("..", "docs", "runbooks", filepath.FromSlash(a.Runbook)))
		if err != nil {
			t.Errorf("%s: %v", a.Name, err)
			continue
		}
		for _, section := range []string{"What it means", "How to see more", "Usual causes", "What to do", "When it clears"} {
			if !strings.Contains(string(text), "\n## "+section+"\n") {
				t.Errorf("%s has no section %q", a.Runbook, section)
			}
		}
	}
}

func TestDescriptionsNameTheLabelsOfTheExpression(t *testing.T) {
	by := regexp.MustCompile(`\bby \(([^)]*)\)`)
	for _, a := range Alerts(DefaultJob) {
		m := by.FindStringSubmatch(a.Signal)
		if m == nil {
			continue
		}
		for label := range strings.SplitSeq(strings.TrimSuffix(m[1], ", severity"), ", ") {
			if !strings.Contains(a.Description, "$labels."+label) {
				t.Errorf("%s: got no label %s in its text; want it", a.Name, label)
			}
		}
	}
}

func TestRecordingsAreNamedLevelMetricOperations(t *testing.T) {
	form := regexp.MustCompile(`^[a-z_]+:petrinet_[a-z_]+:[a-z0-9_]+$`)
	for _, r := range Recordings() {
		if !form.MatchString(r.Record) {
			t.Errorf("%s is not level:metric:operations", r.Record)
			continue
		}
		level, _, _ := strings.Cut(r.Record, ":")
		if want := "by (" + strings.ReplaceAll(level, "_", ", "); strings.Contains(r.Expr, " by (") && !strings.Contains(r.Expr, want) {
			t.Errorf("%s is of another level: %s", r.Record, r.Expr)
		}
	}
}

func TestNoFamilyHasALabelThatPrometheusGivesItsTargets(t *testing.T) {
	for _, f := range metrics.Families() {
		for _, label := range []string{"job", "instance"} {
			if slices.Contains(f.Labels, label) {
				t.Errorf("%s has a label %s", f.Name, label)
			}
		}
	}
}

// Each signal is that of an alert, and each series that a text asks for is a family or a
// recording.
func TestTextsAndSignalsAreOfAlerts(t *testing.T) {
	own, series := signals("pnagent"), map[string]bool{}
	for _, f := range metrics.Families() {
		series[f.Name] = true
	}
	for _, r := range Recordings() {
		series[r.Record] = true
	}
	for _, a := range Alerts("pnagent") {
		delete(own, a.Name)
		for _, name := range regexp.MustCompile(`[a-z_:]*petrinet_[a-z_0-9:]+`).FindAllString(a.Description, -1) {
			if !series[name] {
				t.Errorf("%s asks for %s, which does not exist", a.Name, name)
			}
		}
	}
	for name := range own {
		t.Errorf("%s has a signal and is no alert", name)
	}
}
