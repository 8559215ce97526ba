// SPDX-License-Identifier: Apache-2.0

//go:build release

package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const ansible = "ansible-core==2.19.14"

// playbook applies the role to the machine that runs it.
const playbook = `
- hosts: localhost
  connection: local
  roles:
    - role: pnagent
      vars:
        pnagent_package: /run/packages/0.0.1.deb
        pnagent_files: {nats.token: secret}
        pnagent_sidecars:
          primary: &both
            nats: nats://127.0.0.1:4222
            nats.token-file: /etc/pnagent/nats.token
            mib-dir: /var/lib/pnagent
            web.listen-address: 127.0.0.1:9797
            alarm-state: /var/lib/pnagent/primary.state
            agentx.priority: 100
          standby:
            <<: *both
            web.listen-address: 127.0.0.1:9798
            alarm-state: /var/lib/pnagent/standby.state
            agentx.priority: 127
`

// checkRole applies the role twice, and then with a configuration that is invalid.
func checkRole(t *testing.T, shared string) {
	if _, err := os.Stat("/usr/lib/python3/dist-packages/apt"); err != nil {
		t.Skipf("python3-apt is not installed: %v", err)
	}
	pip := exec.CommandContext(t.Context(), "/usr/bin/python3", "-m", "pip", "install", "--quiet", "--target", filepath.Join(shared, "ansible"), ansible)
	if out, err := pip.CombinedOutput(); err != nil {
		t.Skipf("pip does not install %s: %v\n%s", ansible, err, out)
	}
	if err := os.CopyFS(filepath.Join(shared, "roles"), os.DirFS(filepath.Join("..", "..", "packaging", "ansible"))); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"site.yaml": playbook, "invalid.yaml": strings.Replace(playbook, "agentx.priority: 100", "agentx.priority: none", 1)} {
		if err := os.WriteFile(filepath.Join(shared, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m := start(t, shared)
	m.run("systemd-run", "--unit=nats", "nats-server", "--addr=127.0.0.1", "--auth=secret")
	apply := func(name string) (string, error) {
		return m.try("env", "HOME=/root", "PYTHONPATH=/run/packages/ansible", "ANSIBLE_ROLES_PATH=/run/packages/roles", "/usr/bin/python3", "-m", "ansible", "playbook",
			"--inventory=localhost,", "--extra-vars=ansible_python_interpreter=/usr/bin/python3", "/run/packages/"+name)
	}
	changed := regexp.MustCompile(`changed=(\d+) .* failed=0 `)
	for run, want := range []string{"[1-9][0-9]*", "0"} {
		out, err := apply("site.yaml")
		found := changed.FindStringSubmatch(out)
		if err != nil || found == nil || !regexp.MustCompile("^"+want+"$").MatchString(found[1]) {
			t.Fatalf("run %d: %v; expected %s changes\n%s", run+1, err, want, out)
		}
	}
	for _, sidecar := range []string{"127.0.0.1:9797", "127.0.0.1:9798"} {
		m.until("the sidecar at "+sidecar+" is ready", func() error {
			_, err := m.try("curl", "-sf", sidecar+"/-/ready")
			return err
		})
	}
	is := m.run("cat", "/etc/pnagent/primary.yaml")
	if out, err := apply("invalid.yaml"); err == nil || !strings.Contains(out, "agentx.priority") {
		t.Errorf("an invalid configuration: %v\n%s", err, out)
	}
	if now := m.run("cat", "/etc/pnagent/primary.yaml"); now != is {
		t.Errorf("an invalid configuration was written:\n%s", now)
	}
}
