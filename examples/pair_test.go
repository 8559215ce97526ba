// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
)

const pairManifest = "pair/kubernetes.yaml"

// pairs are the configurations of the two of a pair, by where they are run.
func pairs(t *testing.T) map[string]map[string]string {
	t.Helper()
	onHost := map[string]string{}
	for _, name := range []string{"primary.yaml", "standby.yaml"} {
		text, err := os.ReadFile(filepath.Join("pair", name))
		if err != nil {
			t.Fatal(err)
		}
		onHost[name] = string(text)
	}
	return map[string]map[string]string{"a host": onHost, "Kubernetes": objects(t, pairManifest)["ConfigMap"].Data}
}

func TestBothOfAPairAreConfigurationsThatServeTakes(t *testing.T) {
	for where, pair := range pairs(t) {
		for name, text := range pair {
			path := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.CommandContext(t.Context(), "go", "run", "../cmd/pnagent", "check-config", path).CombinedOutput(); err != nil {
				t.Errorf("%s on %s: %v\n%s", name, where, err, out)
			}
		}
	}
}

// Both must have the same sources, names and notifications. They must differ in
// rank, and in what only one process may write or listen at.
func TestThePrimaryAndTheStandbyDifferWhereTheyMust(t *testing.T) {
	for where, pair := range pairs(t) {
		var primary, standby map[string]any
		for name, into := range map[string]*map[string]any{"primary.yaml": &primary, "standby.yaml": &standby} {
			if err := yaml.Unmarshal([]byte(pair[name]), into); err != nil {
				t.Fatalf("%s on %s: %v", name, where, err)
			}
		}
		var differ []string
		for _, key := range slices.Sorted(maps.Keys(primary)) {
			if !cmp.Equal(primary[key], standby[key]) {
				differ = append(differ, key)
			}
		}
		if want := []string{"agentx.priority", "alarm-state", "web.listen-address"}; !slices.Equal(differ, want) || len(primary) != len(standby) {
			t.Errorf("on %s they differ in %q, want %q", where, differ, want)
		}
		if primary["agentx.priority"] != uint64(100) || standby["agentx.priority"] != uint64(127) {
			t.Errorf("on %s the priorities are %v and %v", where, primary["agentx.priority"], standby["agentx.priority"])
		}
	}
}

// settings are the lines of a unit that are no comment.
func settings(t *testing.T, path string) (lines []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}

func TestTheUnitOfAPairMayDoWhatThatOfOneSidecarMay(t *testing.T) {
	alone, pair := settings(t, "snmpd/pnagent.service"), settings(t, "pair/pnagent@.service")
	if len(alone) != len(pair) {
		t.Fatalf("%d lines and %d", len(alone), len(pair))
	}
	for i, line := range pair {
		switch key, _, _ := strings.Cut(line, "="); key {
		case "Description":
		case "ExecStart":
			if want := strings.ReplaceAll(alone[i], "serve.yaml", "%i.yaml"); line != want {
				t.Errorf("%swant %s", line, want)
			}
		default:
			if line != alone[i] {
				t.Errorf("%swant %s", line, alone[i])
			}
		}
	}
}

type mount struct {
	Name      string
	MountPath string `yaml:"mountPath"`
}

// podOfPair is what the checks look at of a pod of several containers.
type podOfPair struct {
	Kind string
	Spec struct {
		Template struct {
			Spec struct {
				Containers []struct {
					Name           string
					Args           []string
					Ports          []struct{ Name string }
					LivenessProbe  probe   `yaml:"livenessProbe"`
					ReadinessProbe probe   `yaml:"readinessProbe"`
					VolumeMounts   []mount `yaml:"volumeMounts"`
				}
				Volumes []struct{ Name string }
			}
		}
	}
	StringData map[string]string `yaml:"stringData"`
}

func TestThePodOfAPairSharesOneSocket(t *testing.T) {
	text, err := os.ReadFile(pairManifest)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]podOfPair{}
	for _, one := range strings.Split(string(text), "\n---\n") {
		var o podOfPair
		if err := yaml.Unmarshal([]byte(one), &o); err != nil {
			t.Fatal(err)
		}
		kinds[o.Kind] = o
	}
	const socket = "unix:/run/agentx/master"
	conf := kinds["Secret"].StringData["snmpd.conf"]
	if !strings.Contains(conf, "agentXSocket "+socket+"\n") {
		t.Errorf("snmpd does not listen at %s:\n%s", socket, conf)
	}
	configs := objects(t, pairManifest)["ConfigMap"].Data
	pod := kinds["Deployment"].Spec.Template.Spec
	var ports, names []string
	for _, c := range pod.Containers {
		names = append(names, c.Name)
		ports = append(ports, c.Ports[0].Name)
		if !slices.Contains(c.VolumeMounts, mount{"agentx", "/run/agentx"}) {
			t.Errorf("%s does not see the socket: %+v", c.Name, c.VolumeMounts)
		}
		if c.Name == "snmpd" {
			continue
		}
		if config := configs[c.Name+".yaml"]; c.Args[1] != "--config=/etc/pnagent/"+c.Name+".yaml" || !strings.Contains(config, "agentx: "+socket+"\n") {
			t.Errorf("%s is run with %q, which is\n%s", c.Name, c.Args, config)
		}
		if live, ready := c.LivenessProbe.HTTPGet, c.ReadinessProbe.HTTPGet; live.Port != c.Name || live.Path != "/-/healthy" || ready.Port != c.Name || ready.Path != "/-/ready" {
			t.Errorf("%s is probed at %v and %v", c.Name, live, ready)
		}
		for _, m := range c.VolumeMounts {
			if !slices.Contains(pod.Volumes, struct{ Name string }{m.Name}) {
				t.Errorf("there is no volume %s", m.Name)
			}
		}
	}
	if !slices.Equal(names, []string{"snmpd", "primary", "standby"}) {
		t.Errorf("the containers are %q", names)
	}
	for _, p := range objects(t, pairManifest)["Service"].Spec.Ports {
		if !slices.Contains(ports, p.TargetPort) {
			t.Errorf("the service forwards to %s, of %q", p.TargetPort, ports)
		}
	}
}

func TestThePodOfAPairMayDoNothingItNeedNot(t *testing.T) {
	pod := objects(t, pairManifest)["Deployment"].Spec.Template.Spec
	if !pod.SecurityContext.RunAsNonRoot || pod.SecurityContext.RunAsUser == 0 {
		t.Errorf("it runs as %+v", pod.SecurityContext)
	}
	for _, c := range pod.Containers {
		s := c.SecurityContext
		if (c.Image != made(t) && c.Image != "snmpd:dev") || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation ||
			!s.ReadOnlyRootFilesystem || !slices.Equal(s.Capabilities.Drop, []string{"ALL"}) {
			t.Errorf("a container of %s may do %+v", c.Image, s)
		}
	}
}
