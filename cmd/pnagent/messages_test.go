// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/telemetry/natslink"
)

// What a user got wrong is answered with what was found and what was expected.
func TestMistakesOnTheCommandLineAreExplained(t *testing.T) {
	net := filepath.Join("..", "..", "examples", "order-fulfilment.pnml")
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"a negative number", []string{"engine", "--instances", "-1", net}, exitUsage, "--instances: -1 instances; expected 1 or more"},
		{"more spare instances than there are", []string{"engine", "--spare", "2", net}, exitUsage, "2 of 1 instances are spare; expected 0 to 1"},
		{"a negative number of workers", []string{"engine", "--workers", "-3", net}, exitUsage, "--workers: -3 workers; expected 0 or more"},
		{"two negative numbers", []string{"engine", "--actions", "-1", "--firings", "-2", net}, exitUsage, "--firings: -2 firings; expected 0 or more\npnagent: --actions: -1 actions; expected 0 or more"},
		{"a negative number for the demo", []string{"demo", "--instances", "-1", "--for", "1ms"}, exitUsage, "--instances: -1 instances; expected 1 or more"},
		{"an address without a scheme", []string{"top", "--once", "--url", "127.0.0.1:1"}, exitFailed, "connection refused"},
		{"an invalid URL", []string{"top", "--once", "--url", "http://[::1"}, exitUsage, "--url: invalid URL: missing ']' in host; expected http://HOST:PORT"},
		{"an unknown tool", []string{"integrations", "abacus", "--dir", "/nowhere"}, exitUsage, `unknown tool: "abacus"; expected zabbix, snmp-exporter, telegraf,`},
		{"a net without numbers", []string{"integrations", "nagios", "--dir", "/nowhere", "--lock", "/nowhere/oids.lock", net}, exitFailed, `net "order-fulfilment": no number in the OID lock; pnagent mib numbers it`},
		{"no NATS server", []string{"wire", "check", "--nats", "nats://127.0.0.1:1"}, exitFailed, "no connection to NATS at nats://127.0.0.1:1: dial 127.0.0.1:1: connect: connection refused"},
		{"an engine that could not publish its end", []string{"engine", "--firings", "3", "--nats", "nats://127.0.0.1:1", net}, exitFailed,
			"the last snapshots may not have been published: no connection to NATS at nats://127.0.0.1:1: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out, log bytes.Buffer
			if code := run(t.Context(), c.args, streams{strings.NewReader(""), &out, &log}); code != c.code || !strings.Contains(log.String(), c.want) {
				t.Errorf("exit status %d, %s\nwant %d, %q", code, log.String(), c.code, c.want)
			}
			if c.code == exitUsage && out.Len() > 0 {
				t.Errorf("began before the mistake was found:\n%s", out.String())
			}
		})
	}
}

// The default server is named where --nats names none.
func TestAnUnreachableDefaultServerIsNamed(t *testing.T) {
	if err := (cli.NATS{}).Unreachable(&natslink.Link{}, io.ErrUnexpectedEOF); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("without a reason: %v", err)
	}
	link, err := natslink.Open(natslink.Config{URLs: "nats://127.0.0.1:1", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer link.Close()
	if err := (cli.NATS{}).Unreachable(link, io.EOF); !strings.Contains(err.Error(), "no connection to NATS at nats://127.0.0.1:4222: ") {
		t.Errorf("%v", err)
	}
}

// A URL may hold a password, and an error may end in a log.
func TestAnInvalidURLIsNotRepeated(t *testing.T) {
	const secret = "http://ada:secret@[::1"
	for _, args := range [][]string{{"top", "--once", "--url", secret}, {"dump", "--url", secret}, {"report", "--prometheus", secret},
		{"attach", "scrape", "--nats", "nats://127.0.0.1:1", "--mapping", "rabbitmq", secret}} {
		var out, log bytes.Buffer
		code := run(t.Context(), args, streams{strings.NewReader(""), &out, &log})
		if code != exitUsage || strings.Contains(log.String(), "secret") || !strings.Contains(log.String(), "invalid URL") {
			t.Errorf("%v: exit status %d, %s", args, code, log.String())
		}
	}
}

func TestCheckConfigReportsEveryFaultOfAnAlarmsFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "alarms.yaml")
	for _, c := range []struct {
		name, text string
		code       int
		want       []string
	}{
		{"sound", "settle: 10s\noverrides:\n  - {net: orders, stuck: {after: 1h}}\n", exitDone, nil},
		{"three faults", "defaults:\n  stuck: {after: soon, until: 2}\noverrides:\n  - {net: a}\n", exitFailed,
			[]string{file + `:2:18: found "soon"`, file + `:2:24: unknown key "until"`, file + ":4:5: an override without a rule"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			var out, log bytes.Buffer
			code := run(t.Context(), []string{"check-config", file}, streams{strings.NewReader(""), &out, &log})
			lines := strings.Count(log.String(), "\n")
			if code != c.code || lines != len(c.want) {
				t.Errorf("exit status %d and %d lines; want %d and %d: %s", code, lines, c.code, len(c.want), log.String())
			}
			for _, want := range c.want {
				if !strings.Contains(log.String(), want) {
					t.Errorf("no %q in:\n%s", want, log.String())
				}
			}
		})
	}
}
