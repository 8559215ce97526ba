// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"syscall"

	"github.com/gosnmp/gosnmp"

	"github.com/pnagent/pnagent/notify"
)

// sink sends an inform to a trap sink, which says by its name that it is a trial.
func (d *doctor) sink(ctx context.Context, address string) []Finding {
	m := Manager{Address: address, Community: d.Sidecar.Community, User: d.Sidecar.TrapUser, UsersFile: d.UsersFile}
	f := Finding{Check: "sink", Looked: fmt.Sprintf("%s by an inform of %s", address, m.who()), Outcome: Unknown}
	c, err := m.connect(ctx, d.Within)
	if err != nil {
		f.Cause = err.Error()
		return []Finding{f}
	}
	defer func() { _ = c.Close() }() // nothing is left to send
	trial := "." + d.Sidecar.Root.String() + ".1.0.0"
	_, err = c.SendTrap(gosnmp.SnmpTrap{IsInform: true, Variables: []gosnmp.SnmpPDU{
		{Name: snmpTrapOID, Type: gosnmp.ObjectIdentifier, Value: trial},
		{Name: ".1.3.6.1.2.1.1.1.0", Type: gosnmp.OctetString, Value: "pnagent doctor: a trial, nothing is wrong"}}})
	if report := reported(c); report != nil { // which gosnmp discards, or takes for an answer
		err = report
	}
	switch {
	case err == nil && m.User != "" && !d.Sidecar.Inform:
		f.Cause = "it acknowledges informs of this user. Traps, which the sidecar sends, it shows only if it knows the user at the engine of the sidecar, and no answer shows that: see docs/snmpv3.md"
		f.Hints = []Hint{d.flag("snmp.inform", "true")}
		return []Finding{f}
	case err == nil:
		f.Outcome, f.Cause = OK, "it acknowledges informs"
		return []Finding{f}
	}
	f.Outcome = Fails
	listens := Hint{"snmptrapd.conf", "snmpTrapdAddr udp:" + address}
	access := []Hint{{"snmptrapd.conf", "authCommunity log,execute,net COMMUNITY"}}
	if m.User != "" {
		access = []Hint{{"snmptrapd.conf", fmt.Sprintf("createUser %s SHA-256 PASSPHRASE AES PASSPHRASE", m.User)}, {"snmptrapd.conf", fmt.Sprintf("authUser log,execute,net %s priv", m.User)}}
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		f.Cause, f.Hints = "nothing listens there", []Hint{listens}
	case isTimeout(err) || ctx.Err() != nil:
		f.Cause, f.Hints = "no acknowledgement: nothing listens there, a firewall drops the packets, or the receiver does not take these credentials", append([]Hint{listens}, access...)
	default:
		f.Cause, f.Hints = err.Error(), access
	}
	return []Finding{f}
}

// receiver reports whether a webhook, a server of mails or a syslog server would take an event.
func (d *doctor) receiver(ctx context.Context, sink *notify.Settings) Finding {
	f := Finding{Check: "sink", Looked: fmt.Sprintf("%s: %s %s", sink.Name, sink.Kind, sink.Address), Outcome: Fails}
	said, err := sink.Reach(ctx)
	line := func(text string) Hint { return Hint{fmt.Sprintf("rules for alarms, sink %s", sink.Name), text} }
	var authority x509.UnknownAuthorityError
	switch {
	case err == nil:
		f.Outcome, f.Cause = OK, said
		return f
	case errors.Is(err, notify.ErrUnacknowledged):
		f.Outcome = Unknown
		f.Hints = []Hint{line("syslog: tcp://HOST:514")}
	case errors.As(err, &authority):
		f.Hints = []Hint{line("ca_file: FILE-WITH-THE-AUTHORITY-OF-ITS-CERTIFICATE")}
	case errors.Is(err, notify.ErrLogin):
		f.Hints = []Hint{line("user: NAME"), line("password: {file: FILE-WITH-THE-PASSWORD}")}
	case sink.Kind == "mail":
		f.Hints = []Hint{line("mail: [ADDRESS-THAT-THE-SERVER-TAKES]"), line("server: HOST-WHERE-IT-LISTENS")}
	default:
		f.Hints = []Hint{line(sink.Kind + ": ADDRESS-WHERE-IT-LISTENS")}
	}
	f.Cause = err.Error()
	return f
}
