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
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gosnmp/gosnmp"

	"github.com/pnagent/pnagent/mib"
	"github.com/pnagent/pnagent/mib/smi"
)

const (
	sysUpTime   = ".1.3.6.1.2.1.1.3.0"
	snmpTrapOID = ".1.3.6.1.6.3.1.1.4.1.0"
	// maxRows bounds a walk.
	maxRows = 20_000
	// tries are the requests of one question.
	tries = 2
	// questions are what one check asks at most while an agent is silent.
	questions = 4
	snmpd     = "snmpd.conf"
)

// who returns the name of the credentials.
func (m *Manager) who() string {
	if m.User != "" {
		return fmt.Sprintf("SNMPv3 user %q", m.User)
	}
	return "SNMPv2c"
}

// connect returns a client of the agent with the credentials of the manager.
func (m *Manager) connect(ctx context.Context, within time.Duration) (*gosnmp.GoSNMP, error) {
	host, port, err := net.SplitHostPort(m.Address)
	if err != nil {
		return nil, fmt.Errorf("address %q: %w; expected host:port", m.Address, err)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("address %q: %w", m.Address, err)
	}
	c := &gosnmp.GoSNMP{Target: host, Port: uint16(n), Transport: "udp", Context: ctx, Timeout: within / (questions * tries), Retries: tries - 1,
		Version: gosnmp.Version2c, Community: m.Community, MaxOids: gosnmp.MaxOids, MaxRepetitions: 25}
	if m.User != "" {
		usm, level, err := userOf(m.UsersFile, m.User)
		if err != nil {
			return nil, err
		}
		c.Version, c.SecurityModel, c.SecurityParameters, c.MsgFlags = gosnmp.Version3, gosnmp.UserSecurityModel, usm, level
	}
	return c, c.Connect()
}

// userOf returns the parameters of a user in a file that snmp.ReadUsersFile has accepted.
func userOf(file, name string) (*gosnmp.UsmSecurityParameters, gosnmp.SnmpV3MsgFlags, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, 0, fmt.Errorf("reading the SNMPv3 users: %w", err)
	}
	auth := map[string]gosnmp.SnmpV3AuthProtocol{"SHA-1": gosnmp.SHA, "SHA-224": gosnmp.SHA224, "SHA-256": gosnmp.SHA256, "SHA-384": gosnmp.SHA384, "SHA-512": gosnmp.SHA512}
	priv := map[string]gosnmp.SnmpV3PrivProtocol{"AES-128": gosnmp.AES, "AES-256": gosnmp.AES256}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 3 || f[0] != name {
			continue
		}
		usm, level := &gosnmp.UsmSecurityParameters{UserName: name, AuthenticationProtocol: auth[strings.ToUpper(f[1])], AuthenticationPassphrase: f[2]}, gosnmp.AuthNoPriv
		if len(f) == 5 {
			usm.PrivacyProtocol, usm.PrivacyPassphrase, level = priv[strings.ToUpper(f[3])], f[4], gosnmp.AuthPriv
		}
		return usm, level, nil
	}
	return nil, 0, fmt.Errorf("%s has no user %q", file, name)
}

// errRefused is wrapped by the error that an agent gives in its answer.
var errRefused = errors.New("the agent refuses")

// explain returns why an agent did not take the credentials of a user. The agent's report of that
// is not authenticated, so gosnmp discards it; what it answers to lower levels of security shows the reason.
func (m *Manager) explain(ctx context.Context, within time.Duration, err error) error {
	discarded := func(err error) bool { return err != nil && strings.Contains(err.Error(), "not authentic") } // gosnmp has no value for it
	if m.User == "" || !discarded(err) && !isTimeout(err) {
		return err
	}
	unsigned := m.ask(ctx, within, gosnmp.NoAuthNoPriv)
	switch {
	case errors.Is(unsigned, gosnmp.ErrUnknownUsername):
		return unsigned
	case unsigned != nil && isTimeout(unsigned):
		return err
	}
	if m.level() == "priv" && !discarded(m.ask(ctx, within, gosnmp.AuthNoPriv)) {
		return gosnmp.ErrDecryption // snmpd is silent then
	}
	return gosnmp.ErrWrongDigest
}

// ask sends one request at a lower level of security than the user has.
func (m *Manager) ask(ctx context.Context, within time.Duration, level gosnmp.SnmpV3MsgFlags) error {
	c, err := m.connect(ctx, within)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // nothing is left to send
	usm := &gosnmp.UsmSecurityParameters{UserName: m.User}
	if all, ok := c.SecurityParameters.(*gosnmp.UsmSecurityParameters); ok && level == gosnmp.AuthNoPriv {
		usm.AuthenticationProtocol, usm.AuthenticationPassphrase = all.AuthenticationProtocol, all.AuthenticationPassphrase
	}
	c.SecurityParameters, c.MsgFlags = usm, level
	_, err = c.Get([]string{sysUpTime})
	return err
}

// level returns the level of security of the user, as snmpd.conf has it.
func (m *Manager) level() string {
	if _, level, err := userOf(m.UsersFile, m.User); err == nil && level == gosnmp.AuthNoPriv {
		return "auth"
	}
	return "priv"
}

// manage asks an agent as a manager does: whether it answers, whether it shows the root, and
// whether its tables are complete.
func (d *doctor) manage(ctx context.Context, name string, m Manager) []Finding {
	looked := fmt.Sprintf("%s by %s", m.Address, m.who())
	c, err := m.connect(ctx, d.Within)
	if err != nil {
		return []Finding{{name, looked, Unknown, err.Error(), nil}}
	}
	defer func() { _ = c.Close() }() // nothing is left to send
	first, err := c.Get([]string{sysUpTime})
	if err == nil && first.Error != gosnmp.NoError {
		err = fmt.Errorf("%w: %v", errRefused, first.Error)
	}
	if err != nil {
		return []Finding{d.noAnswer(ctx, name, looked, m, m.explain(ctx, d.Within, err))}
	}
	found := []Finding{{name, looked, OK, "it answers", nil}}
	root := "." + d.Sidecar.Root.String()
	got, err := c.GetNext([]string{root})
	switch {
	case err != nil:
		return append(found, Finding{name + ".root", looked + ", below " + root, Unknown, err.Error(), nil})
	case len(got.Variables) != 1 || !below(got.Variables[0], root):
		return append(found, d.hidden(name, looked, m))
	}
	return append(found, Finding{name + ".root", looked + ", below " + root, OK, "it shows the nets", nil}, d.tables(name, looked, c))
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
	case errors.Is(err, gosnmp.ErrUnknownEngineID):
		f.Cause = "the agent has another engine id than it said: two agents answer at this address, or it keeps none"
		f.Hints = []Hint{{snmpd, "engineIDType 3"}}
	case errors.Is(err, gosnmp.ErrNotInTimeWindow):
		f.Cause = "the agent's count of starts or its time is behind what managers have seen, as after its persistent files were deleted"
		f.Hints = []Hint{{"run", "chown the directory of /var/lib/snmp/snmpd.conf to the user of snmpd, and restart snmpd and the manager"}}
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
	asked := Manager{Address: m.Address}
	c, err := asked.connect(ctx, d.Within)
	if err != nil {
		return err.Error(), nil
	}
	defer func() { _ = c.Close() }() // nothing is left to send
	c.Version, c.SecurityModel, c.MsgFlags = gosnmp.Version3, gosnmp.UserSecurityModel, gosnmp.NoAuthNoPriv
	c.SecurityParameters = &gosnmp.UsmSecurityParameters{UserName: "pnagent-doctor"}
	_, err = c.Get([]string{sysUpTime})
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
		names := []string{}
		if text, err := os.ReadFile(m.Snmpd); err == nil {
			for _, match := range view.FindAllStringSubmatch(string(text), -1) {
				names = append(names, match[1])
			}
		}
		f.Cause = "the sidecar has a session with snmpd, and a view of snmpd.conf hides the subtree from these credentials"
		f.Hints = viewHints(&m, names, root)
	default:
		f.Cause = "either the sidecar has no session with snmpd, or a view of snmpd.conf hides the subtree; the sidecar does not answer at " + d.URL
	}
	return f
}

// viewHints returns the lines that add the root to the views of snmpd.conf, or, if no view is
// known, the line of a new one.
func viewHints(m *Manager, names []string, root string) (hints []Hint) {
	for _, v := range slices.Compact(slices.Sorted(slices.Values(names))) {
		hints = append(hints, Hint{snmpd, fmt.Sprintf("view %s included %s", v, root)})
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

// column returns the OID of a column of PETRINET-MIB.
func (d *doctor) column(name string) (oid smi.OID) {
	for _, s := range mib.Describe(d.Sidecar.Root).Sections {
		for _, o := range s.Objects {
			if o.Name == name {
				oid = o.OID
			}
		}
	}
	return oid
}

// tables compares what the tables have with what the sidecar shows.
func (d *doctor) tables(name, looked string, c *gosnmp.GoSNMP) Finding {
	f := Finding{Check: name + ".tables", Looked: looked + ", the tables of nets and places", Outcome: Unknown}
	nets, err := walk(c, d.column("pnNetName"))
	if err != nil {
		f.Cause = "the walk broke off: " + err.Error()
		return f
	}
	places, err := walk(c, d.column("pnPlaceName"))
	switch {
	case err != nil:
		f.Outcome, f.Cause = Fails, fmt.Sprintf("the walk broke off after %d places: %v", len(places), err)
		f.Hints = []Hint{{snmpd, "agentXTimeout 5"}, {snmpd, "agentXRetries 2"}}
	case d.view == nil:
		f.Cause = "the sidecar does not answer, so there is nothing to compare with"
	default:
		f.Outcome, f.Cause, f.Hints = d.compare(nets, places)
	}
	return f
}

func (d *doctor) compare(nets, places []string) (Outcome, string, []Hint) {
	want, shown := 0, 0
	for i := range d.view.Nets {
		if n := &d.view.Nets[i]; slices.Contains(nets, n.ID) || slices.Contains(nets, n.Name) {
			shown++
			want += len(n.Places)
		}
	}
	hints := []Hint{{snmpd, "agentXTimeout 5"}, {snmpd, "maxGetbulkResponses 100"}}
	switch {
	case shown < len(d.view.Nets):
		return Fails, fmt.Sprintf("%d of the %d nets of the sidecar are in the table: a view shows a part of the subtree, or the sidecar does not number a net yet (see %s/-/ready)", shown, len(d.view.Nets), d.URL), hints
	case len(places) >= maxRows:
		return Unknown, fmt.Sprintf("there are more than %d places; no more were read", maxRows), nil
	case len(places) < want:
		return Fails, fmt.Sprintf("the table of places ends after %d of %d rows: a view shows a part of the subtree, or snmpd gives up on a slow answer", len(places), want), hints
	}
	return OK, fmt.Sprintf("%d nets and %d places, as the sidecar has", shown, len(places)), nil
}

// errEnough ends a walk.
var errEnough = errors.New("enough")

// walk returns the texts of a column.
func walk(c *gosnmp.GoSNMP, column smi.OID) (all []string, err error) {
	err = c.BulkWalk("."+column.String(), func(v gosnmp.SnmpPDU) error {
		text, ok := v.Value.([]byte)
		if !ok {
			return fmt.Errorf("%s is a %v; expected a text", v.Name, v.Type)
		}
		all = append(all, string(text))
		if len(all) >= maxRows {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return all, err
}

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
	if err == nil {
		f.Outcome, f.Cause = OK, "it acknowledges informs"
		return []Finding{f}
	}
	f.Outcome = Fails
	listens := Hint{"snmptrapd.conf", "snmpTrapdAddr udp:" + address}
	access := Hint{"snmptrapd.conf", "authCommunity log,execute,net COMMUNITY"}
	if m.User != "" {
		access = Hint{"snmptrapd.conf", fmt.Sprintf("authUser log,execute,net %s priv", m.User)}
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		f.Cause, f.Hints = "nothing listens there", []Hint{listens}
	case isTimeout(err) || ctx.Err() != nil:
		f.Cause, f.Hints = "no acknowledgement: nothing listens there, a firewall drops the packets, or the receiver does not take these credentials", []Hint{listens, access}
	default:
		f.Cause, f.Hints = err.Error(), []Hint{access}
	}
	return []Finding{f}
}
