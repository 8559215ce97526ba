// SPDX-License-Identifier: Apache-2.0

//go:build release

package release

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// What checks the chart, and where the schemas of its objects come from.
const (
	helm        = "helm.sh/helm/v3/cmd/helm@v3.22.0"
	kubeconform = "github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0"
	kubernetes  = "k8s.io/kubernetes@v1.37.2"
	operator    = "github.com/prometheus-operator/prometheus-operator@v0.85.0"
)

var chart = filepath.Join("..", "..", "charts", "pnagent")

// installations are values of the chart, by what they install, in YAML.
var installations = map[string]string{
	"one sidecar": ``,
	"a pair with SNMP": `
mode: pair
snmp: {enabled: true}
pair: {claim: numbers}
config:
  snmp.trap-sink: [nms.example.org:162]
  snmp.trap-user: noc
files:
  nats.token-file: {secret: nats, key: token}
  snmp.users-file: {secret: snmp, key: users}
  standby.key-file: {secret: pair, key: key}`,
	"a tree": `
mode: tree
tree: {shares: 3, config: {from-zero: true}}
config: {alarms: {defaults: {stuck: {after: 30m}}}, up: petrinet.top, up.nats: "nats://top:4222"}
files:
  nats.token-file: {secret: nats, key: token}
  up.nats.token-file: {secret: top, key: token}
  web.config.file: {secret: web, key: web.yaml}`,
	"adapters and all else": `
image: {name: "registry.example.com/pnagent:1.2.3", pullSecrets: [{name: registry}]}
config: {nats: null, nats.prefix: petrinet.v1}
env: [{name: PNAGENT_NATS_URL, valueFrom: {secretKeyRef: {name: nats, key: url}}}]
files: {nats.token-file: {secret: nats, key: token}}
nets: {order.pnml: "<pnml/>"}
adapters:
  batch: {command: kubernetes}
  jobs: {command: scrape, args: ["--interval=5s", "http://jobs:9090/metrics"]}
  orders: {command: sql, args: ["--interval=5s"], env: [{name: PGPASSWORD, valueFrom: {secretKeyRef: {name: db, key: password}}}]}
persistence: {size: 1Gi, storageClass: fast}
nodeSelector: {kubernetes.io/os: linux}
tolerations: [{key: monitoring, operator: Exists}]
serviceMonitor: {enabled: true, labels: {release: prometheus}, endpoint: {interval: 30s}}
prometheusRule: {enabled: true, labels: {release: prometheus}}
dashboards: {enabled: true}
networkPolicy: {enabled: true, from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}]}`,
}

// helmed runs helm on the chart, with values, and returns what it prints.
func helmed(t *testing.T, values string, args ...string) (string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(file, []byte(values), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", append(append([]string{"run", helm}, args...), chart, "--values", file)...)
	var wrong bytes.Buffer
	cmd.Stderr = &wrong
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%w\n%s%s", err, out, wrong.String())
	}
	return string(out), nil
}

// object is what the tests look at of an object of Kubernetes.
type object struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   struct {
		Name   string
		Labels map[string]string
	}
	Data map[string]string
	Spec struct {
		Groups   []struct{ Rules []any }
		Selector map[string]any
		Template struct {
			Metadata struct{ Labels map[string]string }
			Spec     struct {
				Containers []struct{ Args []string }
				Volumes    []struct {
					Name      string
					Projected struct {
						Sources []struct {
							Secret struct{ Items []struct{ Path string } }
						}
					}
				}
			}
		}
	}
}

func objects(t *testing.T, text string) (all []object) {
	t.Helper()
	for d := yaml.NewDecoder(strings.NewReader(text)); ; {
		var o object
		if err := d.Decode(&o); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
}

func named(all []object, kind, name string) object {
	i := slices.IndexFunc(all, func(o object) bool { return o.Kind == kind && o.Metadata.Name == name })
	if i < 0 {
		return object{}
	}
	return all[i]
}

func TestWhatTheChartInstallsIsValid(t *testing.T) {
	schemas := t.TempDir()
	writeSchemas(t, schemas)
	for what, values := range installations {
		t.Run(what, func(t *testing.T) {
			if out, err := helmed(t, values, "lint", "--strict"); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			text, err := helmed(t, values, "template", "--namespace=monitoring", "nets")
			if err != nil {
				t.Fatal(err)
			}
			if out, err := validated(t, schemas, text); err != nil {
				t.Errorf("%v\n%s\n%s", err, out, text)
			}
			if out, err := validated(t, schemas, strings.Replace(text, "containerPort:", "containerport:", 1)); err == nil {
				t.Errorf("an unknown key is not refused: %s", out)
			}
			all := objects(t, text)
			checkConfigurations(t, all)
			for _, o := range all {
				if o.Kind == "StatefulSet" {
					checkArguments(t, o.Spec.Template.Spec.Containers[0].Args)
					checkService(t, o, named(all, "Service", o.Metadata.Name))
				}
			}
		})
	}
}

// validated compares objects with the schemas in a directory.
func validated(t *testing.T, schemas, text string) (string, error) {
	t.Helper()
	check := exec.CommandContext(t.Context(), "go", "run", kubeconform, "-schema-location", filepath.Join(schemas, "{{.ResourceKind}}{{.KindSuffix}}.json"))
	check.Stdin = strings.NewReader(text)
	out, err := check.CombinedOutput()
	return string(out), err
}

// checkConfigurations runs each configuration of a sidecar through check-config, with the files that it names.
func checkConfigurations(t *testing.T, all []object) {
	t.Helper()
	configs := named(all, "ConfigMap", "nets-pnagent").Data
	if len(configs) == 0 {
		t.Fatal("there is no configuration")
	}
	secrets := map[string]string{
		"snmp.users-file":    "noc SHA-256 passphrase-one AES-128 passphrase-two\n",
		"standby.key-file":   strings.Repeat("k", 32) + "\n",
		"nats.token-file":    "token\n",
		"up.nats.token-file": "token\n",
		"web.config.file":    "{}\n",
	}
	for name, text := range configs {
		dir := t.TempDir()
		for flag, content := range secrets {
			if err := os.WriteFile(filepath.Join(dir, flag), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		text = strings.NewReplacer("/etc/pnagent/files", dir, "/var/lib/pnagent", dir).Replace(text)
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(t.Context(), "go", "run", "../../cmd/pnagent", "check-config", path).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s\n%s", name, err, out, text)
		}
		mounted := projected(named(all, "StatefulSet", strings.TrimSuffix("nets-pnagent-"+strings.TrimSuffix(name, ".yaml"), "-sidecar")))
		for _, found := range regexp.MustCompile(regexp.QuoteMeta(dir)+`/([a-z.-]+)\n`).FindAllStringSubmatch(text, -1) {
			if _, isSecret := secrets[found[1]]; isSecret && !slices.Contains(mounted, found[1]) {
				t.Errorf("%s names the file of %s, and the pod has %q", name, found[1], mounted)
			}
		}
	}
}

// projected returns the flags whose files a pod has.
func projected(o object) (flags []string) {
	for _, v := range o.Spec.Template.Spec.Volumes {
		for _, s := range v.Projected.Sources {
			for _, item := range s.Secret.Items {
				flags = append(flags, item.Path)
			}
		}
	}
	return flags
}

// checkArguments compares the arguments of a container with the reference of the command line.
func checkArguments(t *testing.T, args []string) {
	t.Helper()
	command := "pnagent " + args[0]
	if args[0] == "attach" {
		command += " " + args[1]
	}
	_, section, found := strings.Cut(read(t, filepath.Join("..", "..", "docs", "reference", "command-line.md")), "\n## "+command+"\n")
	if !found {
		t.Fatalf("there is no command %q", command)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	for _, arg := range args {
		flag, _, _ := strings.Cut(arg, "=")
		if strings.HasPrefix(flag, "--") && !strings.Contains(section, "| `"+flag+" ") && !strings.Contains(section, "| `"+flag+"`") {
			t.Errorf("%s has no %s", command, flag)
		}
	}
}

// checkService checks that a service selects the pods of a set, and no others.
func checkService(t *testing.T, set, service object) {
	t.Helper()
	labels := set.Spec.Template.Metadata.Labels
	if len(service.Spec.Selector) == 0 || service.Spec.Selector["app.kubernetes.io/component"] != labels["app.kubernetes.io/component"] {
		t.Errorf("the service of %s selects %v, of pods %v", set.Metadata.Name, service.Spec.Selector, labels)
	}
	for key, value := range service.Spec.Selector {
		if labels[key] != value {
			t.Errorf("the service of %s selects %s=%v, and its pods have %q", set.Metadata.Name, key, value, labels[key])
		}
	}
}

// configurations returns those of the sidecars that values install, by name.
func configurations(t *testing.T, values string) map[string]map[string]any {
	t.Helper()
	text, err := helmed(t, values, "template", "nets")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]any{}
	for name, config := range named(objects(t, text), "ConfigMap", "nets-pnagent").Data {
		var keys map[string]any
		if err := yaml.Unmarshal([]byte(config), &keys); err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(name, ".yaml")] = keys
	}
	return all
}

func TestTheSidecarsOfATreeShareTheEnginesOfItsRoot(t *testing.T) {
	all := configurations(t, installations["a tree"])
	if len(all) != 4 || all["root"]["nats.prefix"] != "petrinet.root" || all["root"]["up"] != "petrinet.top" {
		t.Errorf("the configurations are %v", all)
	}
	for i := 1; i <= 3; i++ {
		name := fmt.Sprintf("below-%d", i)
		below := all[name]
		if below["share"] != fmt.Sprintf("%d/3", i) || below["up"] != "petrinet.root" || below["up.source"] != name || below["nats"] != all["root"]["nats"] || below["up.nats"] != nil {
			t.Errorf("%s is configured as %v", name, below)
		}
	}
}

func TestTheTwoOfAPairDifferInTheirRank(t *testing.T) {
	all := configurations(t, installations["a pair with SNMP"])
	primary, standby := all["primary"], all["standby"]
	if primary["agentx.priority"] != uint64(100) || standby["agentx.priority"] != uint64(127) {
		t.Errorf("their ranks are %v and %v", primary["agentx.priority"], standby["agentx.priority"])
	}
	delete(primary, "agentx.priority")
	delete(standby, "agentx.priority")
	if fmt.Sprint(primary) != fmt.Sprint(standby) || len(primary) == 0 {
		t.Errorf("they differ in more than that: %v, %v", primary, standby)
	}
}

func TestTheChartRefusesWhatItCannotInstall(t *testing.T) {
	for why, values := range map[string]string{
		"a mode that does not exist":     `mode: ring`,
		"a key that does not exist":      `sidecars: 3`,
		"a key that the chart sets":      `config: {web.listen-address: ":1"}`,
		"a file without its Secret":      `files: {nats.creds: {key: x}}`,
		"SNMP for the community public":  `snmp: {enabled: true}`,
		"an adapter that does not exist": `adapters: {x: {command: telepathy}}`,
		"no shares":                      `mode: tree` + "\n" + `tree: {shares: 0}`,
	} {
		if _, err := helmed(t, values, "template"); err == nil || !strings.Contains(err.Error(), "values don't meet the specifications") {
			t.Errorf("%s: %v", why, err)
		}
	}
}

func TestTheChartHasTheGeneratedRulesAndDashboards(t *testing.T) {
	text, err := helmed(t, installations["adapters and all else"], "template", "nets")
	if err != nil {
		t.Fatal(err)
	}
	all := objects(t, text)
	rule := named(all, "PrometheusRule", "nets-pnagent")
	generated := objects(t, read(t, filepath.Join("..", "..", "dashboards", "kubernetes", "prometheusrule.yaml")))[0]
	if len(rule.Spec.Groups) == 0 || fmt.Sprint(rule.Spec.Groups) != fmt.Sprint(generated.Spec.Groups) {
		t.Error("the rules are not those of dashboards/kubernetes")
	}
	dashboards, err := filepath.Glob(filepath.Join("..", "..", "dashboards", "grafana", "*.json"))
	if err != nil || len(dashboards) == 0 {
		t.Fatalf("dashboards: %q, %v", dashboards, err)
	}
	for _, path := range dashboards {
		file := filepath.Base(path)
		o := named(all, "ConfigMap", "nets-pnagent-"+strings.TrimSuffix(file, ".json"))
		if o.Data["pnagent-"+file] != read(t, path) || o.Metadata.Labels["grafana_dashboard"] != "1" {
			t.Errorf("%s is not in the chart as it is generated", file)
		}
	}
}

// directory returns the files of a module, which the go command downloads.
func directory(t *testing.T, module string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", module).Output()
	var is struct{ Dir string }
	if err := errors.Join(err, json.Unmarshal(out, &is)); err != nil {
		t.Fatalf("%s: %v\n%s", module, err, out)
	}
	return is.Dir
}

// writeSchemas writes a JSON schema for each kind of Kubernetes and of Prometheus' operator, which
// refuses unknown keys.
func writeSchemas(t *testing.T, dir string) {
	t.Helper()
	var api struct{ Definitions map[string]map[string]any }
	if err := json.Unmarshal([]byte(read(t, filepath.Join(directory(t, kubernetes), "api", "openapi-spec", "swagger.json"))), &api); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"io.k8s.apimachinery.pkg.util.intstr.IntOrString", "io.k8s.apimachinery.pkg.api.resource.Quantity"} {
		api.Definitions[name] = map[string]any{"type": []string{"string", "number"}}
	}
	for _, name := range slices.Sorted(maps.Keys(api.Definitions)) {
		kinds, _ := api.Definitions[name]["x-kubernetes-group-version-kind"].([]any)
		if len(kinds) != 1 {
			continue
		}
		used := map[string]any{}
		addUsed(api.Definitions, name, used)
		kind := kinds[0].(map[string]any)
		writeSchema(t, dir, kind["group"], kind["kind"], kind["version"], map[string]any{"$ref": "#/definitions/" + name, "definitions": used})
	}
	crds, err := filepath.Glob(filepath.Join(directory(t, operator), "example", "prometheus-operator-crd", "*.yaml"))
	if err != nil || len(crds) == 0 {
		t.Fatalf("definitions of the operator: %q, %v", crds, err)
	}
	for _, path := range crds {
		var crd struct {
			Spec struct {
				Group    string
				Names    struct{ Kind string }
				Versions []struct {
					Name   string
					Schema struct {
						OpenAPIV3Schema map[string]any `yaml:"openAPIV3Schema"`
					}
				}
			}
		}
		if err := yaml.Unmarshal([]byte(read(t, path)), &crd); err != nil {
			t.Fatal(err)
		}
		for _, v := range crd.Spec.Versions {
			writeSchema(t, dir, crd.Spec.Group, crd.Spec.Names.Kind, v.Name, v.Schema.OpenAPIV3Schema)
		}
	}
}

// addUsed adds a definition and those that it refers to.
func addUsed(all map[string]map[string]any, name string, used map[string]any) {
	if _, has := used[name]; has {
		return
	}
	used[name] = all[name]
	text, _ := json.Marshal(all[name])
	for _, found := range regexp.MustCompile(`"#/definitions/([^"]+)"`).FindAllSubmatch(text, -1) {
		addUsed(all, string(found[1]), used)
	}
}

// writeSchema writes a schema under the name by which kubeconform looks for it.
func writeSchema(t *testing.T, dir string, group, kind, version any, schema map[string]any) {
	t.Helper()
	closed(schema)
	text, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.ToLower(fmt.Sprintf("%v-", kind))
	if first, _, _ := strings.Cut(fmt.Sprint(group), "."); first != "" {
		name += first + "-"
	}
	if err := os.WriteFile(filepath.Join(dir, name+fmt.Sprintf("%v.json", version)), text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// closed makes each object with known properties one that has no others.
func closed(schema any) {
	switch s := schema.(type) {
	case map[string]any:
		if _, has := s["properties"].(map[string]any); has {
			if _, open := s["additionalProperties"]; !open && s["x-kubernetes-preserve-unknown-fields"] == nil {
				s["additionalProperties"] = false
			}
		}
		for _, below := range s {
			closed(below)
		}
	case []any:
		for _, below := range s {
			closed(below)
		}
	}
}
