// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// RefusedNothing fails the test if a server refused something of a program.
func RefusedNothing(t *testing.T, all ...*Process) {
	t.Helper()
	for _, p := range all {
		if said := p.Err.String(); strings.Contains(said, "iolation") {
			t.Errorf("the server refused something of %s:\n%s", p.Name, said)
		}
	}
}

// Permitted is a nats-server with the permissions that pnagent prints.
type Permitted struct{ At string }

// Permit runs a nats-server with the permissions of all roles. The password of each
// user is its name, in lower case.
func Permit(t *testing.T, flags []string, printed ...string) Permitted {
	t.Helper()
	return PermitWith(t, flags, Permissions(t, printed...))
}

// Permissions returns what pnagent prints.
func Permissions(t *testing.T, args ...string) string {
	t.Helper()
	r := Pnagent(t, append([]string{"permissions"}, args...)...)
	if r.Code != 0 {
		t.Fatalf("permissions: got %d, %s; want 0", r.Code, r.Err)
	}
	return r.Out
}

// PermitWith runs a nats-server with a configuration of users.
func PermitWith(t *testing.T, flags []string, users string) Permitted {
	t.Helper()
	var conf strings.Builder
	for _, m := range regexp.MustCompile(`\$NATS_PASSWORD_([A-Z0-9_]+)`).FindAllStringSubmatch(users, -1) {
		fmt.Fprintf(&conf, "NATS_PASSWORD_%s: %q\n", m[1], strings.ToLower(strings.ReplaceAll(m[1], "_", "-")))
	}
	conf.WriteString(users)
	url := StartNATS(t, append(flags, "--config", Write(t, "nats.conf", conf.String()))...)
	return Permitted{strings.TrimPrefix(url, "nats://")}
}

// URL returns the address for a user.
func (p Permitted) URL(user string) string { return "nats://" + user + ":" + user + "@" + p.At }
