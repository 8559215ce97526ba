// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/gosnmp/gosnmp"
)

const (
	sysUpTime   = ".1.3.6.1.2.1.1.3.0"
	snmpTrapOID = ".1.3.6.1.6.3.1.1.4.1.0"
	// tries are the requests of one question.
	tries = 2
	// questions are what one check asks at most while an agent is silent.
	questions = 4
	snmpd     = "snmpd.conf"
)

// manage asks an agent as a manager does: whether it answers, whether it shows the root, and
// whether its tables are complete.
func (d *doctor) manage(ctx context.Context, name string, m Manager) []Finding {
	looked := fmt.Sprintf("%s by %s", m.Address, m.who())
	c, err := m.connect(ctx, d.Within)
	if err != nil {
		return []Finding{{name, looked, Unknown, err.Error(), nil}}
	}
	defer func() { _ = c.Close() }() // nothing is left to send
	if m.User != "" {
		if cause, hints := d.engines(ctx, &m); cause != "" {
			return []Finding{{name, looked, Fails, cause, hints}}
		}
	}
	if err := m.get(ctx, d.Within, c); err != nil {
		return []Finding{d.noAnswer(ctx, name, looked, m, err)}
	}
	found := []Finding{{name, looked, OK, "it answers", nil}}
	if m.User != "" && name == "master" {
		found = append(found, m.kept(c))
	}
	root := "." + d.Sidecar.Root.String()
	got, err := c.GetNext([]string{root})
	switch {
	case err != nil && isTimeout(err), err == nil && got.Error == gosnmp.GenErr:
		return append(found, Finding{name + ".root", looked + ", below " + root, Fails,
			"the agent answers for itself, and not about the subtree: the sidecar hangs, or takes longer than snmpd waits for it", []Hint{{snmpd, "agentXTimeout 5"}, {"run", "systemctl restart pnagent"}}})
	case err != nil:
		return append(found, Finding{name + ".root", looked + ", below " + root, Unknown, err.Error(), nil})
	case len(got.Variables) != 1 || !below(got.Variables[0], root):
		return append(found, d.hidden(name, looked, m))
	}
	return append(found, Finding{name + ".root", looked + ", below " + root, OK, "it shows the nets", nil}, d.tables(name, looked, &m, c))
}

// below reports whether a variable exists below an OID.
func below(v gosnmp.SnmpPDU, root string) bool {
	missing := v.Type == gosnmp.EndOfMibView || v.Type == gosnmp.NoSuchObject || v.Type == gosnmp.NoSuchInstance
	return !missing && strings.HasPrefix(v.Name, root+".")
}

// noAnswer returns why an agent does not answer a manager.
func (d *doctor) noAnswer(ctx context.Context, name, looked string, m Manager, err error) Finding {
	f := Finding{Check: name, Looked: looked, Outcome: Fails}
	file, root := snmpd, d.Sidecar.Root.String()
	if name != "master" {
		file = d.UsersFile
	}
	rouser := Hint{snmpd, fmt.Sprintf("rouser %s %s .%s", m.User, m.level(), root)}
	create := Hint{"snmpd.conf (and stop snmpd before, start it after)", fmt.Sprintf("createUser %s SHA-256 PASSPHRASE AES PASSPHRASE", m.User)}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		f.Cause = "nothing listens there"
		f.Hints = d.listens(name, m)
	case errors.Is(err, gosnmp.ErrUnknownUsername):
		f.Cause = fmt.Sprintf("the agent has no user %q", m.User)
		f.Hints = []Hint{{file, fmt.Sprintf("%s SHA-256 PASSPHRASE AES-128 PASSPHRASE", m.User)}}
		if name == "master" {
			f.Hints = []Hint{create, rouser}
		}
	case errors.Is(err, gosnmp.ErrWrongDigest):
		f.Cause = fmt.Sprintf("the passphrase or the authentication protocol of the user %q is another one at the agent", m.User)
		f.Hints = []Hint{{m.UsersFile, fmt.Sprintf("%s SHA-256 PASSPHRASE AES-128 PASSPHRASE", m.User)}}
		if name == "master" {
			f.Hints = []Hint{create}
		}
	case errors.Is(err, gosnmp.ErrDecryption):
		f.Cause = fmt.Sprintf("the privacy passphrase or protocol of the user %q is another one at the agent", m.User)
		f.Hints = []Hint{create}
	case errors.Is(err, gosnmp.ErrUnknownSecurityLevel), errors.Is(err, errRefused):
		f.Cause = fmt.Sprintf("the agent does not take the user %q at this level of security, or allows it nothing: %v", m.User, err)
		f.Hints = []Hint{{snmpd, fmt.Sprintf("rouser %s %s .%s", m.User, m.level(), root)}}
	case errors.Is(err, gosnmp.ErrUnknownEngineID), errors.Is(err, gosnmp.ErrNotInTimeWindow):
		f.Cause = fmt.Sprintf("the agent is not the engine that it was a moment ago (%v): it started again meanwhile, or several agents answer at this address", err)
		f.Hints = []Hint{{snmpd, "agentAddress udp:ADDRESS-OF-THIS-HOST-ALONE"}}
	case ctx.Err() != nil || isTimeout(err):
		f.Cause, f.Hints = d.silent(ctx, name, m)
	default:
		f.Outcome, f.Cause = Unknown, err.Error()
	}
	return f
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout() || strings.Contains(err.Error(), "timeout") // gosnmp has no type for it
}

// listens returns what makes an agent listen at the address.
func (d *doctor) listens(name string, m Manager) []Hint {
	if name == "master" {
		return []Hint{{snmpd, "agentAddress udp:" + m.Address}, {"run", "systemctl restart snmpd"}}
	}
	return []Hint{{"run", "systemctl restart pnagent"}}
}

// silent returns why an agent says nothing. It answers discovery by SNMPv3 whatever the community is.
func (d *doctor) silent(ctx context.Context, name string, m Manager) (string, []Hint) {
	_, err := m.discover(ctx, d.Within)
	if err != nil && isTimeout(err) {
		return "no answer: nothing listens there, a firewall drops the packets, or the agent ignores this address or these credentials", d.listens(name, m)
	}
	if name == "master" {
		return "snmpd answers discovery and not this community: the community is another one, or is not for this host", []Hint{{snmpd, fmt.Sprintf("rocommunity COMMUNITY %s .%s", "HOST-OF-THE-MANAGER", d.Sidecar.Root)}}
	}
	return "the responder answers discovery and not this community", []Hint{d.flag("snmp.community-file", "FILE")}
}

// view matches the view of a line of access control in snmpd.conf.
var view = regexp.MustCompile(`(?m)^\s*r[ow](?:community6?|user)\s.*-V\s+(\S+)`)

// excluded matches a line of a view in snmpd.conf that hides a subtree.
var excluded = regexp.MustCompile(`(?m)^(\s*view\s+\S+\s+excluded\s+(\S+).*)$`)

// hidden returns why an agent answers, and nothing below the root.
func (d *doctor) hidden(name, looked string, m Manager) Finding {
	root := "." + d.Sidecar.Root.String()
	f := Finding{Check: name + ".root", Looked: looked + ", below " + root, Outcome: Fails}
	switch {
	case name != "master":
		f.Cause = "the responder shows nothing there: another program answers, or a sidecar with another --oid-root"
		f.Hints = []Hint{d.flag("oid-root", root[1:])}
	case d.view != nil && d.view.AgentX != nil && !d.view.AgentX.Connected:
		f.Cause = "the sidecar has no session with snmpd: see agentx"
	case d.view != nil && d.view.AgentX != nil:
		f.Cause = "the sidecar has a session with snmpd, and a view of snmpd.conf hides the subtree from these credentials"
		f.Hints = d.viewHints(&m)
	default:
		f.Cause = "either the sidecar has no session with snmpd, or a view of snmpd.conf hides the subtree; the sidecar does not answer at " + d.URL
	}
	return f
}

// viewHints returns the lines that add the root to the views of snmpd.conf, or, if no view is
// known, the line of a new one. An excluded subtree below the root stays excluded, so its line leaves.
func (d *doctor) viewHints(m *Manager) (hints []Hint) {
	root := "." + d.Sidecar.Root.String()
	text, _ := os.ReadFile(m.Snmpd) // without it no view is known
	var names []string
	for _, match := range view.FindAllStringSubmatch(string(text), -1) {
		names = append(names, match[1])
	}
	for _, v := range slices.Compact(slices.Sorted(slices.Values(names))) {
		hints = append(hints, Hint{snmpd, fmt.Sprintf("view %s included %s", v, root)})
	}
	for _, match := range excluded.FindAllStringSubmatch(string(text), -1) {
		if strings.HasPrefix(match[2], root+".") {
			hints = append(hints, Hint{snmpd, "(remove) " + strings.TrimSpace(match[1])})
		}
	}
	switch {
	case len(hints) > 0:
	case m.User != "":
		hints = []Hint{{snmpd, fmt.Sprintf("view pnagent included %s", root)}, {snmpd, fmt.Sprintf("rouser %s %s -V pnagent", m.User, m.level())}}
	default:
		hints = []Hint{{snmpd, fmt.Sprintf("view pnagent included %s", root)}, {snmpd, "rocommunity COMMUNITY HOST-OF-THE-MANAGER -V pnagent"}}
	}
	return hints
}
