// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// collected is a sidecar with a stuck token, and generated files of a tool that reads it.
type collected struct {
	side  *sidecar
	files string // directory of the files of the tool
	mibs  string
}

// startCollected runs a sidecar that answers the users of a file, or without them the community
// public.
func startCollected(t *testing.T, tool, users string) collected {
	t.Helper()
	args := []string{"--snmp", "127.0.0.1:0", "--state-dir", t.TempDir()}
	if users != "" {
		file := write(t, "users", users)
		if err := os.Chmod(file, 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--snmp.users-file", file)
	}
	net := write(t, "claims.pnml", stuckNet)
	m, bus, dir := generate(t, "", net), startNATS(t), t.TempDir()
	side := serve(t, bus, append(args, "--mib-dir", m.dir)...)
	runEngine(t, bus, "berlin", "--bindings", write(t, "bindings.yaml", stuckBindings), net)
	if r := pnagent(t, "integrations", tool, "--dir", dir, "--mib-dir", m.dir); r.code != 0 {
		t.Fatalf("pnagent integrations: got %+v", r)
	}
	return collected{side, filepath.Join(dir, tool), filepath.Join(dir, "mibs")}
}

// configuration returns the generated file with replacements; each must be found.
func (c collected) configuration(t *testing.T, replace ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.files, "pnagent.conf"))
	if err != nil {
		t.Fatal(err)
	}
	s := string(text)
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(s, replace[i]) {
			t.Fatalf("the generated file has no %q", replace[i])
		}
		s = strings.ReplaceAll(s, replace[i], replace[i+1])
	}
	return s
}

// holds compares the tokens of each place, and wants the age of the stuck token to grow.
func (c collected) holds(t *testing.T, read func() (tokens map[string]uint64, age float64, err error)) {
	t.Helper()
	var before float64
	until(t, "the numbers are those of the sidecar, and the age of the stuck token grows", func() error {
		tokens, age, err := read()
		if err != nil {
			return err
		}
		for _, p := range c.side.view(t).Nets[0].Places {
			if got, there := tokens[p.ID]; !there || got != *p.Tokens {
				return fmt.Errorf("place %q has %d tokens, want %d; there are %v", p.ID, got, *p.Tokens, tokens)
			}
		}
		if before == 0 || age <= before {
			last := before
			before = age
			return fmt.Errorf("the age is %v, and was %v", age, last)
		}
		return nil
	})
}

func TestCollectdReadsNumbers(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("collectd")
	if err != nil {
		t.Skip("collectd is not installed (Debian package collectd-core)")
	}
	const user = "    Version 3\n    SecurityLevel \"authPriv\"\n    Username \"collectd\"\n    AuthProtocol \"SHA\"\n    AuthPassphrase \"CHANGE-THE-AUTH-PASSPHRASE\"\n" +
		"    PrivacyProtocol \"AES\"\n    PrivacyPassphrase \"CHANGE-THE-PRIV-PASSPHRASE\"\n"
	for _, c := range []struct {
		name, users string
		replace     []string
	}{
		{"SNMPv3", "collectd SHA-1 authenticate-me AES-128 encrypt-me-too\n", []string{"CHANGE-THE-AUTH-PASSPHRASE", "authenticate-me", "CHANGE-THE-PRIV-PASSPHRASE", "encrypt-me-too"}},
		{"SNMPv2c", "", []string{user, "    Version 2\n    Community \"public\"\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := startCollected(t, "collectd", c.users)
			dir := t.TempDir()
			text := m.configuration(t, append(c.replace, "CHANGE-THE-HOST:161", m.side.snmp, "Interval 30", "Interval 1")...)
			config := write(t, "collectd.conf", fmt.Sprintf("Hostname \"here\"\nBaseDir %q\nPIDFile %q\nInterval 1\nLoadPlugin csv\n<Plugin csv>\n  DataDir %q\n</Plugin>\n%s", dir, filepath.Join(dir, "pid"), dir, text))
			if r := tool(t, nil, program, "-t", "-C", config); r.code != 0 || strings.Contains(r.out+r.err, "rror") {
				t.Fatalf("collectd -t: got %+v; want no error", r)
			}
			start(t, program, "-f", "-C", config)
			m.holds(t, func() (map[string]uint64, float64, error) {
				return readCollectd(filepath.Join(dir, "pnagent", "petrinet-claims"))
			})
		})
	}
}

// readCollectd returns the last values in the files of collectd's csv plugin.
func readCollectd(dir string) (tokens map[string]uint64, age float64, err error) {
	const ofTokens, ofAge = "gauge-place-tokens-", "duration-place-oldest_age_seconds-awaiting answer"
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, 0, err
	}
	tokens = map[string]uint64{}
	for _, f := range files {
		name := f.Name()[:max(0, len(f.Name())-len("-2006-01-02"))]
		id, is := strings.CutPrefix(name, ofTokens)
		if !is && name != ofAge {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return nil, 0, err
		}
		lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		_, last, _ := strings.Cut(lines[len(lines)-1], ",")
		v, err := strconv.ParseFloat(last, 64)
		if err != nil {
			return nil, 0, err
		}
		if is {
			tokens[id] = uint64(v)
		} else {
			age = v
		}
	}
	if age == 0 {
		return nil, 0, errors.New("the stuck token has no age")
	}
	return tokens, age, nil
}

// Telegraf is not in Debian, and takes minutes to build: "make check-integrations" does.
func TestTelegrafReadsNumbers(t *testing.T) {
	t.Parallel()
	program := os.Getenv("PNAGENT_TEST_TELEGRAF")
	if program == "" {
		t.Skip("Telegraf is not here: make check-integrations")
	}
	m := startCollected(t, "telegraf", "noc SHA-256 authenticate-me AES-128 encrypt-me-too\n")
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	text := m.configuration(t, "CHANGE-THE-AUTH-PASSPHRASE", "authenticate-me", "CHANGE-THE-PRIV-PASSPHRASE", "encrypt-me-too", "CHANGE-THE-HOST:161", m.side.snmp,
		"/etc/pnagent/mibs", m.mibs, "udp://:162", "udp://"+freeAddr(t, "udp"), `interval = "30s"`, `interval = "1s"`)
	config := write(t, "telegraf.conf", fmt.Sprintf("[agent]\n  snmp_translator = \"gosmi\"\n  omit_hostname = true\n  flush_interval = \"1s\"\n[[outputs.file]]\n  files = [%q]\n  data_format = \"influx\"\n%s", out, text))
	start(t, program, "--config", config)
	m.holds(t, func() (map[string]uint64, float64, error) { return readTelegraf(out) })
}

// readTelegraf returns the last values of places in a file in InfluxDB's line protocol.
func readTelegraf(file string) (tokens map[string]uint64, age float64, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, 0, err
	}
	line := regexp.MustCompile(`(?m)^pn_place,id=((?:\\.|[^,\\ ])*),.*[^\\] .*$`)
	tokens = map[string]uint64{}
	for _, m := range line.FindAllStringSubmatch(string(text), -1) {
		id := strings.NewReplacer(`\ `, " ", `\,`, ",", `\=`, "=").Replace(m[1])
		if n := submatch(m[0], `[ ,]tokens=(\d+)[iu]`); n != nil {
			tokens[id], _ = strconv.ParseUint(n[1], 10, 64)
		}
		if n := submatch(m[0], `[ ,]oldest_age_seconds=(\d+)[iu]`); n != nil && id == "awaiting answer" {
			age, _ = strconv.ParseFloat(n[1], 64)
		}
	}
	if age == 0 {
		return nil, 0, fmt.Errorf("the stuck token has no age in %d octets", len(text))
	}
	return tokens, age, nil
}
