// SPDX-License-Identifier: Apache-2.0

package snmptest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/mib/smi"
)

// Snmptrapd is a net-snmp receiver of notifications that belongs to one test.
// It takes every community.
type Snmptrapd struct {
	Addr string // where it listens: 127.0.0.1:port, UDP

	done   chan struct{} // closed when the daemon has ended
	stdout logBuffer
	stderr logBuffer
}

// Notification is one that snmptrapd received.
type Notification struct {
	PDU       string // "TRAP2" or "INFORM"
	Community string
	Variables []smi.Variable
}

// coldStart is the notification that probes a snmptrapd.
const coldStart = "1.3.6.1.6.3.1.1.5.1"

// StartTrapd runs snmptrapd and waits until it acknowledges an inform, which Wait does
// not return. It skips the test if snmptrapd or the tools are not installed. The daemon
// ends with the test.
func StartTrapd(tb testing.TB) *Snmptrapd {
	tb.Helper()
	RequireTools(tb)
	path := findDaemon(tb, "snmptrapd")
	dir := shortTempDir(tb)
	d := &Snmptrapd{Addr: freeAddr(tb, "udp"), done: make(chan struct{})}
	conf := filepath.Join(dir, "snmptrapd.conf")
	if err := os.WriteFile(conf, []byte("disableAuthorization yes\n"), 0o600); err != nil {
		tb.Fatal(err)
	}
	cmd := exec.CommandContext(context.Background(), path, "-f", "-Lo", "-C", "-c", conf, "-m", "", "-OnUex", "-n", "-X",
		"-F", marker+`%P\n%V\n%v\n`+end+`\n`, "udp:"+d.Addr)
	cmd.Env = append(os.Environ(), "MIBS=", "SNMP_PERSISTENT_DIR="+filepath.Join(dir, "persistent"))
	cmd.Stdout, cmd.Stderr = &d.stdout, &d.stderr
	if err := cmd.Start(); err != nil {
		tb.Fatalf("start snmptrapd: %v", err)
	}
	go func() {
		defer close(d.done)
		_ = cmd.Wait() // how it ended is in the log
	}()
	tb.Cleanup(func() {
		_ = cmd.Process.Kill() // fails only where it has ended
		<-d.done
		if tb.Failed() {
			tb.Logf("snmptrapd said:\n%s%s", d.stdout.String(), d.stderr.String())
		}
	})
	d.waitUntilThere(tb)
	return d
}

func (d *Snmptrapd) waitUntilThere(tb testing.TB) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	for {
		_, err := Client{Addr: d.Addr}.Run(ctx, "snmpinform", []string{"-t", "0.1", "-r", "0"}, "", coldStart)
		if err == nil {
			return
		}
		d.pause(ctx, tb, fmt.Sprintf("snmptrapd does not answer: %v", err))
	}
}

// Wait waits until at least n notifications have come and gives all that have.
func (d *Snmptrapd) Wait(tb testing.TB, n int) []Notification {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	for {
		got, err := parseNotifications(d.stdout.String())
		if err != nil {
			tb.Fatalf("snmptrapd: %v", err)
		}
		if len(got) >= n {
			return got
		}
		d.pause(ctx, tb, fmt.Sprintf("of %d notifications only %d came", n, len(got)))
	}
}

// pause waits a moment, or fails the test where there is nothing to wait for.
func (d *Snmptrapd) pause(ctx context.Context, tb testing.TB, failure string) {
	tb.Helper()
	select {
	case <-ctx.Done():
		tb.Fatal(failure)
	case <-d.done:
		tb.Fatalf("snmptrapd ended; %s", failure)
	case <-time.After(pollEvery):
	}
}

// marker begins a notification in the output, and end ends it. What is sent
// comes in hexadecimal and cannot look like them.
const (
	marker = "== "
	end    = "--"
)

// parseNotifications reads "== TRAP2, SNMP v2c, community public", the
// variables after it and the end. One that is not complete yet is left out.
func parseNotifications(out string) ([]Notification, error) {
	var all []Notification
	parts := strings.Split(out, marker)
	for _, part := range parts[1:] {
		whole, _, complete := strings.Cut(part, "\n"+end+"\n")
		if !complete {
			break
		}
		head, variables, _ := strings.Cut(whole, "\n")
		pdu, security, _ := strings.Cut(head, ", ")
		_, community, _ := strings.Cut(security, "community ")
		parsed, err := Parse(strings.NewReader(variables))
		if err != nil {
			return nil, err
		}
		if len(parsed) > 1 && parsed[1].Value.Type == smi.TypeObjectIdentifier && parsed[1].Value.OID().String() == coldStart {
			continue
		}
		all = append(all, Notification{PDU: pdu, Community: community, Variables: parsed})
	}
	return all, nil
}
