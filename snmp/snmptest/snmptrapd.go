// SPDX-License-Identifier: Apache-2.0

package snmptest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/internal/porttest"
	"github.com/pnagent/pnagent/mib/smi"
)

// Snmptrapd is a net-snmp receiver of notifications that belongs to one test.
// It takes every community.
type Snmptrapd struct {
	Addr   string // where it listens: 127.0.0.1:port, UDP
	daemon *daemon
}

// Notification is one that snmptrapd received.
type Notification struct {
	PDU       string // "TRAP2" or "INFORM"
	Community string // of SNMPv2c
	User      string // of SNMPv3
	Variables []smi.Variable
}

// coldStart is the notification that probes a snmptrapd.
const coldStart = "1.3.6.1.6.3.1.1.5.1"

// StartTrapd runs snmptrapd and waits until it acknowledges an inform, which Wait does
// not return. It skips the test if snmptrapd or the tools are not installed. The daemon
// ends with the test. The lines are added to its configuration.
func StartTrapd(tb testing.TB, lines ...string) *Snmptrapd {
	tb.Helper()
	d := &Snmptrapd{Addr: porttest.Addr(tb), daemon: newDaemon(tb, "snmptrapd")}
	d.daemon.configure(tb, append(lines, "disableAuthorization yes"), "-m", "", "-OnUex", "-n", "-X",
		"-F", marker+`%P\n%V\n%v\n`+end+`\n`, "udp:"+d.Addr)
	d.daemon.start(tb, func(ctx context.Context) error {
		_, err := Client{Addr: d.Addr}.Run(ctx, "snmpinform", []string{"-t", "0.1", "-r", "0"}, "", coldStart)
		return err
	})
	return d
}

// Pause stops the daemon as if it hung, until Resume.
func (d *Snmptrapd) Pause(tb testing.TB) { tb.Helper(); d.daemon.Pause(tb) }

// Resume resumes a paused daemon.
func (d *Snmptrapd) Resume(tb testing.TB) { tb.Helper(); d.daemon.Resume(tb) }

// Wait waits until at least n notifications have come and gives all that have.
func (d *Snmptrapd) Wait(tb testing.TB, n int) (got []Notification) {
	tb.Helper()
	d.daemon.until(tb, func(context.Context) (err error) {
		if got, err = parseNotifications(d.daemon.stdout.String()); err != nil {
			tb.Fatalf("snmptrapd: %v", err)
		}
		if len(got) < n {
			return fmt.Errorf("of %d notifications only %d came", n, len(got))
		}
		return nil
	})
	return got
}

// marker begins a notification in the output, and end ends it. What is sent
// comes in hexadecimal and cannot look like them.
const (
	marker = "== "
	end    = "--"
)

// parseNotifications reads "== TRAP2, SNMP v2c, community public" or "== TRAP2, SNMP
// v3, user noc, context ", the variables after it and the end. One that is not complete yet is left out.
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
		_, user, _ := strings.Cut(security, "user ")
		user, _, _ = strings.Cut(user, ",")
		parsed, err := Parse(strings.NewReader(variables))
		if err != nil {
			return nil, err
		}
		if len(parsed) > 1 && parsed[1].Value.Type == smi.TypeObjectIdentifier && parsed[1].Value.OID().String() == coldStart {
			continue
		}
		all = append(all, Notification{PDU: pdu, Community: community, User: user, Variables: parsed})
	}
	return all, nil
}
