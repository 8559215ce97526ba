// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/pnagent/pnagent/agentx/pdu"
)

// Cure returns what an operator does about the cause of a session that cannot be opened at
// an address of Config.Addr, or "" if that is not known.
func Cure(addr string, err error) string {
	var refused pdu.Error
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("snmpd is not running, or it has no AgentX socket there: set \"master agentx\" and \"agentXSocket %s\" in snmpd.conf, and restart snmpd", addr)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("this user may not open the socket: set \"agentXPerms 0660 0550 root GROUP\" in snmpd.conf with a group of this user, restart snmpd, and look at the rights of the folder of %s", addr)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Sprintf("snmpd does not listen there: start snmpd, or set \"master agentx\" and \"agentXSocket %s\" in snmpd.conf", addr)
	case errors.As(err, &refused) && refused == pdu.DuplicateRegistration:
		return "another subagent has registered the subtree with this priority: give this one another --agentx.priority, or another --oid-root"
	case errors.As(err, &refused) && refused == pdu.RequestDenied:
		return "snmpd refuses the subtree: look for a module of its own, or a line such as \"pass\" or \"proxy\" in snmpd.conf, for the same subtree"
	case errors.Is(err, errTimeout):
		return "snmpd accepts the connection and does not answer: look at its load and its log, or restart it"
	}
	return ""
}

// Lines returns the lines of snmpd.conf that let a subagent in at an address of Config.Addr, if
// the cause of a session that cannot be opened is there.
func Lines(addr string, err error) []string {
	serves := []string{"master agentx", "agentXSocket " + addr}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return serves
	case errors.Is(err, fs.ErrPermission):
		return append(serves, "agentXPerms 0660 0550 root GROUP")
	}
	return nil
}

// reason returns why there is no session, with its cure.
func (s *Subagent) reason(err error) string {
	if err == nil {
		return ""
	}
	if cure := Cure(s.address.String(), err); cure != "" {
		return fmt.Sprintf("%v; %s", err, cure)
	}
	return err.Error()
}
