// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// read reads a YAML file.
func read(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

type composeFile struct {
	Services map[string]struct {
		Image string
		Build struct{ Context, Dockerfile string }
		Ports, Volumes,
		Command []string
		DependsOn []string `yaml:"depends_on"`
	}
	Volumes map[string]any
}

const compose = "compose/docker-compose.yml"

// pinned is an image with a version.
var pinned = regexp.MustCompile(`^[a-z0-9./-]+:v?\d+\.\d+\.\d+[a-z0-9.-]*$`)

// made returns the name of the image that make image writes.
func made(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`(?m)^IMAGE\s+\?= (.*)$`).FindStringSubmatch(string(text))
	if name == nil {
		t.Fatal("the Makefile has no name of the image")
	}
	return name[1]
}

func TestComposeRefersOnlyToWhatIsThere(t *testing.T) {
	var c composeFile
	read(t, compose, &c)
	for _, name := range []string{"nats", "engine", "pnagent", "snmpd", "prometheus", "grafana"} {
		if _, ok := c.Services[name]; !ok {
			t.Errorf("there is no service %s", name)
		}
	}
	ports := map[string]string{}
	for name, s := range c.Services {
		switch {
		case s.Build.Dockerfile != "":
			if _, err := os.Stat(filepath.Join("compose", s.Build.Context, s.Build.Dockerfile)); err != nil {
				t.Errorf("%s is built of nothing: %v", name, err)
			}
		case s.Image == made(t):
		case !pinned.MatchString(s.Image):
			t.Errorf("the image of %s, %q, has no version", name, s.Image)
		}
		for _, other := range s.DependsOn {
			if _, ok := c.Services[other]; !ok {
				t.Errorf("%s depends on %s, which is not there", name, other)
			}
		}
		for _, v := range s.Volumes {
			source, _, _ := strings.Cut(v, ":")
			if !strings.HasPrefix(source, ".") {
				if _, ok := c.Volumes[source]; !ok {
					t.Errorf("%s has the volume %s, which is not there", name, source)
				}
			} else if _, err := os.Stat(filepath.Join("compose", source)); err != nil {
				t.Errorf("%s mounts %v", name, err)
			}
		}
		for _, p := range s.Ports {
			host := p[:strings.LastIndex(p, ":")]
			if !strings.HasPrefix(host, "127.0.0.1:") || ports[host] != "" {
				t.Errorf("%s is published at %s, which is %q's or not of this machine alone", name, host, ports[host])
			}
			ports[host] = name
		}
	}
}

// mounted returns the file of ours that a service sees at a path.
func (c *composeFile) mounted(service, path string) string {
	for _, v := range c.Services[service].Volumes {
		parts := strings.Split(v, ":")
		if rest, ok := strings.CutPrefix(path, parts[1]); ok && strings.HasPrefix(parts[0], ".") {
			return filepath.Join("compose", parts[0], rest)
		}
	}
	return ""
}

func TestComposeMountsWhatCommandsAndProvisioningName(t *testing.T) {
	var c composeFile
	read(t, compose, &c)
	for _, arg := range c.Services["engine"].Command {
		if i := strings.Index(arg, "/examples/"); i >= 0 {
			if _, err := os.Stat(c.mounted("engine", arg[i:])); err != nil {
				t.Errorf("the engine reads %s: %v", arg, err)
			}
		}
	}
	var p struct {
		RuleFiles     []string `yaml:"rule_files"`
		ScrapeConfigs []struct {
			JobName       string                       `yaml:"job_name"`
			StaticConfigs []struct{ Targets []string } `yaml:"static_configs"`
		} `yaml:"scrape_configs"`
	}
	read(t, "compose/prometheus.yml", &p)
	for _, pattern := range p.RuleFiles {
		if found, err := filepath.Glob(c.mounted("prometheus", pattern)); err != nil || len(found) == 0 {
			t.Errorf("Prometheus reads no rules from %s: %v", pattern, err)
		}
	}
	host, _, _ := strings.Cut(p.ScrapeConfigs[0].StaticConfigs[0].Targets[0], ":")
	if _, ok := c.Services[host]; !ok || p.ScrapeConfigs[0].JobName != "pnagent" {
		t.Errorf("Prometheus scrapes %+v", p.ScrapeConfigs)
	}
	var d struct {
		Providers []struct{ Options struct{ Path string } }
	}
	read(t, c.mounted("grafana", "/etc/grafana/provisioning/dashboards/pnagent.yml"), &d)
	if found, err := filepath.Glob(c.mounted("grafana", d.Providers[0].Options.Path) + "/*.json"); err != nil || len(found) != 5 {
		t.Errorf("Grafana reads the dashboards %q: %v", found, err)
	}
	var s struct{ Datasources []struct{ URL string } }
	read(t, c.mounted("grafana", "/etc/grafana/provisioning/datasources/pnagent.yml"), &s)
	if s.Datasources[0].URL != "http://prometheus:9090" {
		t.Errorf("Grafana asks %s", s.Datasources[0].URL)
	}
}

func TestTheImageOfSnmpdIsPinned(t *testing.T) {
	text, err := os.ReadFile("compose/Dockerfile.snmpd")
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^FROM \S+:\d+\.\d+(\.\d+)?-`).Match(text) {
		t.Errorf("its base has no version:\n%s", text)
	}
}

// object is what the checks look at of a Kubernetes object.
type object struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   struct {
		Name   string
		Labels map[string]string
	}
	Data map[string]string
	Spec struct {
		Selector map[string]any
		Ports    []struct {
			Name       string
			TargetPort string `yaml:"targetPort"`
		}
		Endpoints []struct{ Port, Path string }
		Template  struct {
			Metadata struct{ Labels map[string]string }
			Spec     podSpec
		}
	}
}

type podSpec struct {
	ServiceAccountName string `yaml:"serviceAccountName"`
	SecurityContext    struct {
		RunAsNonRoot bool `yaml:"runAsNonRoot"`
		RunAsUser    int  `yaml:"runAsUser"`
	} `yaml:"securityContext"`
	Containers []struct {
		Image           string
		Args            []string
		Ports           []struct{ Name string }
		LivenessProbe   probe `yaml:"livenessProbe"`
		ReadinessProbe  probe `yaml:"readinessProbe"`
		SecurityContext struct {
			AllowPrivilegeEscalation *bool `yaml:"allowPrivilegeEscalation"`
			ReadOnlyRootFilesystem   bool  `yaml:"readOnlyRootFilesystem"`
			Capabilities             struct{ Drop []string }
		} `yaml:"securityContext"`
		VolumeMounts []struct {
			Name      string
			MountPath string `yaml:"mountPath"`
		} `yaml:"volumeMounts"`
	}
	Volumes []struct {
		Name                  string
		ConfigMap             struct{ Name string } `yaml:"configMap"`
		PersistentVolumeClaim struct {
			ClaimName string `yaml:"claimName"`
		} `yaml:"persistentVolumeClaim"`
	}
}

type probe struct {
	HTTPGet struct{ Path, Port string } `yaml:"httpGet"`
}

func objects(t *testing.T, path string) map[string]object {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := map[string]object{}
	for d := yaml.NewDecoder(f); ; {
		var o object
		if err := d.Decode(&o); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if o.APIVersion == "" || o.Metadata.Name != "pnagent" {
			t.Errorf("%s has an object %+v", path, o)
		}
		all[o.Kind] = o
	}
}

const manifest = "kubernetes/pnagent.yaml"

func TestKubernetesObjectsReferToEachOther(t *testing.T) {
	all := objects(t, manifest)
	pod := all["Deployment"].Spec.Template
	labels := pod.Metadata.Labels
	for _, selector := range []any{all["Deployment"].Spec.Selector["matchLabels"], all["Service"].Spec.Selector,
		objects(t, "kubernetes/servicemonitor.yaml")["ServiceMonitor"].Spec.Selector["matchLabels"]} {
		m, _ := selector.(map[string]any)
		if len(m) != 1 || m["app.kubernetes.io/name"] != labels["app.kubernetes.io/name"] {
			t.Errorf("a selector is %v, the labels are %v", selector, labels)
		}
	}
	c := pod.Spec.Containers[0]
	port := c.Ports[0].Name
	monitor := objects(t, "kubernetes/servicemonitor.yaml")["ServiceMonitor"].Spec.Endpoints[0]
	if all["Service"].Spec.Ports[0].TargetPort != port || monitor.Port != all["Service"].Spec.Ports[0].Name || monitor.Path != "/metrics" {
		t.Errorf("the service forwards to %+v, the monitor asks %+v", all["Service"].Spec.Ports, monitor)
	}
	if live, ready := c.LivenessProbe.HTTPGet, c.ReadinessProbe.HTTPGet; live.Path != "/-/healthy" || ready.Path != "/-/ready" || live.Port != port || ready.Port != port {
		t.Errorf("the probes are %v and %v", live, ready)
	}
	var volumes []string
	for _, v := range pod.Spec.Volumes {
		volumes = append(volumes, v.Name)
		if name := v.ConfigMap.Name; name != "" && name != all["ConfigMap"].Metadata.Name {
			t.Errorf("there is no ConfigMap %s", name)
		}
		if name := v.PersistentVolumeClaim.ClaimName; name != "" && name != all["PersistentVolumeClaim"].Metadata.Name {
			t.Errorf("there is no claim %s", name)
		}
	}
	for _, m := range c.VolumeMounts {
		if !slices.Contains(volumes, m.Name) {
			t.Errorf("there is no volume %s", m.Name)
		}
	}
	if pod.Spec.ServiceAccountName != all["ServiceAccount"].Metadata.Name {
		t.Errorf("there is no service account %s", pod.Spec.ServiceAccountName)
	}
}

func TestKubernetesPodMayDoNothingItNeedNot(t *testing.T) {
	pod := objects(t, manifest)["Deployment"].Spec.Template.Spec
	c := pod.Containers[0]
	s := c.SecurityContext
	if !pod.SecurityContext.RunAsNonRoot || pod.SecurityContext.RunAsUser == 0 || s.AllowPrivilegeEscalation == nil ||
		*s.AllowPrivilegeEscalation || !s.ReadOnlyRootFilesystem || !slices.Equal(s.Capabilities.Drop, []string{"ALL"}) {
		t.Errorf("the security contexts are %+v and %+v", pod.SecurityContext, s)
	}
	if want := made(t); c.Image != want {
		t.Errorf("the image is %s, and make image writes %s", c.Image, want)
	}
}

func TestKubernetesConfigurationIsOneThatServeTakes(t *testing.T) {
	config := objects(t, manifest)["ConfigMap"].Data["serve.yaml"]
	path := filepath.Join(t.TempDir(), "serve.yaml")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "run", "../cmd/pnagent", "check-config", path).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
