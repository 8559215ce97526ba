// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// Bounds of a file of users.
const (
	maxUsersFile  = 1 << 20
	maxUsers      = 1000
	maxUserName   = 32 // octets, of snmpAdminString in RFC 3414
	minPassphrase = 8  // octets, RFC 3414 section 11.2
)

// ErrUsers is wrapped by the errors of ReadUsersFile.
var ErrUsers = errors.New("invalid file of SNMPv3 users")

// User is a user of SNMPv3 (RFC 3414), who authenticates all messages, and
// encrypts them if it has a privacy protocol.
type User struct {
	Name             string
	auth             authProtocol
	priv             privProtocol // zero without privacy
	authKey, privKey []byte       // of no engine yet
}

// String returns the name and the protocols of the user. No method or error
// contains a passphrase or a key.
func (u User) String() string {
	return strings.TrimSpace(u.Name + " " + u.auth.name + " " + u.priv.name)
}

// GoString returns the same as String.
func (u User) GoString() string { return u.String() }

// ReadUsersFile reads users, one a line, with fields that blanks separate: name,
// authentication protocol, passphrase, and for privacy a protocol and a passphrase.
//
//	noc SHA-256 authentication-passphrase AES-128 privacy-passphrase
//
// Empty lines and lines that begin with # are ignored. Users of other groups must
// not be able to read the file. The error wraps ErrUsers, or is that of the system.
func ReadUsersFile(name string) ([]User, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read SNMPv3 users: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read SNMPv3 users: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o027 != 0 {
		return nil, fmt.Errorf("%w: %s has the mode %#o; expected 0600, or 0640 for a group that may read it", ErrUsers, name, mode)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxUsersFile+1))
	if err != nil {
		return nil, fmt.Errorf("read SNMPv3 users: %w", err)
	}
	return parseUsers(text, name)
}

// parseUsers reads the content of a file with the name.
func parseUsers(text []byte, name string) ([]User, error) {
	if len(text) > maxUsersFile || !utf8.Valid(text) {
		return nil, fmt.Errorf("%w: %s: expected UTF-8 text of at most %d bytes", ErrUsers, name, maxUsersFile)
	}
	var users []User
	lines := map[string]int{}
	number := 0
	for line := range bytes.Lines(text) {
		number++
		trimmed := strings.TrimSpace(string(line))
		if trimmed == "" || trimmed[0] == '#' {
			continue
		}
		u, column, err := parseUser(strings.TrimRight(string(line), "\r\n"))
		if err == nil && lines[u.Name] > 0 {
			err = fmt.Errorf("user %q is in line %d too; expected each user once", u.Name, lines[u.Name])
		}
		if err == nil && len(users) == maxUsers {
			err = fmt.Errorf("more users than %d", maxUsers)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %s:%d:%d: %w", ErrUsers, name, number, column, err)
		}
		lines[u.Name] = number
		users = append(users, u)
	}
	if len(users) == 0 {
		return nil, fmt.Errorf("%w: %s has no user; expected lines such as: noc SHA-256 PASSPHRASE AES-128 PASSPHRASE", ErrUsers, name)
	}
	return users, nil
}

// parseUser reads a line. The column, from 1, is that of an error.
func parseUser(line string) (u User, column int, err error) {
	fields, columns := split(line)
	if len(fields) != 3 && len(fields) != 5 {
		return u, 1, fmt.Errorf("%d fields; expected a name, a protocol and a passphrase, and for privacy a protocol and a passphrase more", len(fields))
	}
	if u.Name = fields[0]; len(u.Name) > maxUserName {
		return u, columns[0], fmt.Errorf("a user name of %d octets; expected at most %d", len(u.Name), maxUserName)
	}
	var known []string
	for _, p := range authProtocols() {
		known = append(known, p.name)
		if strings.EqualFold(p.name, fields[1]) {
			u.auth = p
		}
	}
	if u.auth.hash == nil {
		return u, columns[1], fmt.Errorf("unknown authentication protocol; expected one of %s", strings.Join(known, ", "))
	}
	for i := 2; i < len(fields); i += 2 {
		if len(fields[i]) < minPassphrase {
			return u, columns[i], fmt.Errorf("a passphrase of %d octets; expected at least %d", len(fields[i]), minPassphrase)
		}
	}
	u.authKey = passwordToKey(u.auth.hash, fields[2])
	if len(fields) == 3 {
		return u, 0, nil
	}
	known = known[:0]
	for _, p := range privProtocols() {
		known = append(known, p.name)
		if strings.EqualFold(p.name, fields[3]) {
			u.priv = p
		}
	}
	if u.priv.key == 0 {
		return u, columns[3], fmt.Errorf("unknown privacy protocol; expected one of %s", strings.Join(known, ", "))
	}
	u.privKey = passwordToKey(u.auth.hash, fields[4])
	return u, 0, nil
}

// split returns the fields of a line and the column of each, from 1.
func split(line string) (fields []string, columns []int) {
	for at := 0; at < len(line); {
		if line[at] == ' ' || line[at] == '\t' {
			at++
			continue
		}
		n := strings.IndexAny(line[at:], " \t")
		if n < 0 {
			n = len(line) - at
		}
		fields, columns = append(fields, line[at:at+n]), append(columns, at+1)
		at += n
	}
	return fields, columns
}
