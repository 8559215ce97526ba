// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gosnmp/gosnmp"
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
		Version: gosnmp.Version2c, Community: m.Community, MaxOids: gosnmp.MaxOids, MaxRepetitions: repetitions}
	if m.User != "" {
		usm, level, err := userOf(m.UsersFile, m.User)
		if err != nil {
			return nil, err
		}
		c.Version, c.SecurityModel, c.SecurityParameters, c.MsgFlags = gosnmp.Version3, gosnmp.UserSecurityModel, usm, level
	}
	if err := c.Connect(); err != nil {
		return nil, err
	}
	c.Conn = &answers{Conn: c.Conn}
	return c, nil
}

// answers is a connection that keeps the last answer as it came. gosnmp discards a report that is
// not authenticated, and that report says why an agent did not take a request.
type answers struct {
	net.Conn
	last []byte // nil after a request
}

func (a *answers) Write(b []byte) (int, error) {
	a.last = nil
	return a.Conn.Write(b)
}

func (a *answers) Read(b []byte) (int, error) {
	n, err := a.Conn.Read(b)
	a.last = bytes.Clone(b[:n])
	return n, err
}

// reported returns the error of the report that was the last answer; nil if that was none.
func reported(c *gosnmp.GoSNMP) error {
	a, ok := c.Conn.(*answers)
	if !ok || a.last == nil {
		return nil
	}
	reader := gosnmp.GoSNMP{Version: gosnmp.Version3, SecurityModel: gosnmp.UserSecurityModel, MsgFlags: gosnmp.NoAuthNoPriv, SecurityParameters: &gosnmp.UsmSecurityParameters{UserName: "-"}}
	if p, err := reader.SnmpDecodePacket(a.last); err == nil && p.PDUType == gosnmp.Report && len(p.Variables) == 1 {
		number, _ := strings.CutPrefix(p.Variables[0].Name, ".1.3.6.1.6.3.15.1.1.")
		return map[string]error{"1.0": gosnmp.ErrUnknownSecurityLevel, "2.0": gosnmp.ErrNotInTimeWindow, "3.0": gosnmp.ErrUnknownUsername,
			"4.0": gosnmp.ErrUnknownEngineID, "5.0": gosnmp.ErrWrongDigest, "6.0": gosnmp.ErrDecryption}[number]
	}
	return nil
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

// get asks for the time since the start of the agent, which each agent shows. Its error says why
// the agent did not answer with that.
func (m *Manager) get(ctx context.Context, within time.Duration, c *gosnmp.GoSNMP) error {
	p, err := c.Get([]string{sysUpTime})
	switch report := reported(c); {
	case report != nil:
		return report
	case err == nil && p.Error != gosnmp.NoError:
		return fmt.Errorf("%w: %v", errRefused, p.Error)
	case err == nil || m.User == "" || m.level() != "priv" || !isTimeout(err):
		return err
	}
	if m.signed(ctx, within) {
		return gosnmp.ErrDecryption // snmpd is silent then
	}
	return err
}

// signed reports whether the agent takes a request of the user that is not encrypted.
func (m *Manager) signed(ctx context.Context, within time.Duration) bool {
	c, err := m.connect(ctx, within)
	if err != nil {
		return false
	}
	defer func() { _ = c.Close() }() // nothing is left to send
	if usm, ok := c.SecurityParameters.(*gosnmp.UsmSecurityParameters); ok {
		usm.PrivacyProtocol, usm.PrivacyPassphrase, c.MsgFlags = gosnmp.NoPriv, "", gosnmp.AuthNoPriv|gosnmp.Reportable
	}
	_, err = c.Get([]string{sysUpTime})
	report := reported(c)
	return err == nil && report == nil || errors.Is(report, gosnmp.ErrUnknownSecurityLevel)
}

// discover returns what an agent says of its engine to a manager that does not know it (RFC 3414,
// section 4). An agent answers that whatever the credentials are.
func (m *Manager) discover(ctx context.Context, within time.Duration) (*gosnmp.UsmSecurityParameters, error) {
	asked := Manager{Address: m.Address}
	c, err := asked.connect(ctx, within)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }() // nothing is left to send
	usm := &gosnmp.UsmSecurityParameters{UserName: "pnagent-doctor"}
	c.Version, c.SecurityModel, c.MsgFlags, c.SecurityParameters = gosnmp.Version3, gosnmp.UserSecurityModel, gosnmp.NoAuthNoPriv|gosnmp.Reportable, usm
	_, err = c.Get([]string{sysUpTime})
	if usm.AuthoritativeEngineID == "" {
		return nil, err
	}
	return usm, nil
}

// level returns the level of security of the user, as snmpd.conf has it.
func (m *Manager) level() string {
	if _, level, err := userOf(m.UsersFile, m.User); err == nil && level == gosnmp.AuthNoPriv {
		return "auth"
	}
	return "priv"
}
