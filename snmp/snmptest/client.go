// SPDX-License-Identifier: Apache-2.0

package snmptest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/mib/smi"
)

// toolTimeout ends a tool that hangs. It is far above what any of them takes.
const toolTimeout = 2 * time.Minute

// Client asks the SNMP agent at Addr ("127.0.0.1:1161") with net-snmp's tools,
// over v2c, or v3 where User is set. Its methods fail the test where a tool
// fails; Run does not.
type Client struct {
	Addr      string
	Community string // "public" where empty
	User      User   // of SNMPv3
	Context   string // of SNMPv3; "" is the default one
}

// User is a user of SNMPv3 at authPriv, by SHA and AES.
type User struct {
	Name       string
	Passphrase string // for both, 8 bytes or more
}

// Lines are for snmpd.conf: they make the user and let it read everything, in
// every context.
func (u User) Lines() []string {
	return []string{
		fmt.Sprintf("createUser %s SHA %s AES %s", u.Name, u.Passphrase, u.Passphrase),
		"view all included .1",
		fmt.Sprintf("rouser %s priv -V all *", u.Name),
	}
}

// credentials returns the options for the user or the community.
func (c Client) credentials() []string {
	if c.User.Name != "" {
		return []string{"-v3", "-l", "authPriv", "-u", c.User.Name, "-n", c.Context,
			"-a", "SHA", "-A", c.User.Passphrase, "-x", "AES", "-X", c.User.Passphrase}
	}
	return []string{"-v2c", "-c", cmp.Or(c.Community, "public")}
}

// RequireTools skips the test where net-snmp's tools are not installed.
func RequireTools(tb testing.TB) {
	tb.Helper()
	for _, tool := range []string{"snmpget", "snmpgetnext", "snmpwalk", "snmpbulkwalk", "snmpbulkget", "snmpset"} {
		if _, err := exec.LookPath(tool); err != nil {
			tb.Skipf("%s is not installed (Debian package snmp)", tool)
		}
	}
}

// Run runs a tool of net-snmp against the agent: the options that every call
// shares, then options, then the address, then args. It reads no configuration
// and no MIBs, and prints numeric names and hexadecimal strings. It gives
// what the tool printed; the error holds what it said on stderr.
func (c Client) Run(ctx context.Context, tool string, options []string, args ...string) (string, error) {
	var stdout bytes.Buffer
	err := c.RunTo(ctx, &stdout, tool, options, args...)
	return stdout.String(), err
}

// RunTo is Run with the output going to w; to a file it goes without costing
// this process anything.
func (c Client) RunTo(ctx context.Context, w io.Writer, tool string, options []string, args ...string) error {
	argv := append(c.credentials(), "-m", "", "-OnUex", "-t", "5", "-r", "2")
	argv = append(argv, options...)
	argv = append(argv, c.Addr)
	argv = append(argv, args...)
	cmd := exec.CommandContext(ctx, tool, argv...)
	// The tools must not read what the user or the system has configured, nor
	// write into a home directory.
	cmd.Env = append(os.Environ(), "MIBS=", "SNMPCONFPATH="+os.DevNull, "SNMP_PERSISTENT_FILE="+os.DevNull)
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = w, &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", tool, err, strings.TrimSpace(stderr.String()))
	}
	return nil
}

// Get asks for names with one snmpget.
func (c Client) Get(tb testing.TB, names ...smi.OID) []smi.Variable {
	tb.Helper()
	return c.ask(tb, "snmpget", nil, names...)
}

// GetNext asks for what follows names with one snmpgetnext.
func (c Client) GetNext(tb testing.TB, names ...smi.OID) []smi.Variable {
	tb.Helper()
	return c.ask(tb, "snmpgetnext", nil, names...)
}

// BulkGet asks for what follows names with one snmpbulkget.
func (c Client) BulkGet(tb testing.TB, nonRepeaters, maxRepetitions int, names ...smi.OID) []smi.Variable {
	tb.Helper()
	return c.ask(tb, "snmpbulkget", []string{fmt.Sprintf("-Cn%d", nonRepeaters), fmt.Sprintf("-Cr%d", maxRepetitions)}, names...)
}

// Walk gives everything at and below root, by GetNext.
func (c Client) Walk(tb testing.TB, root smi.OID) []smi.Variable {
	tb.Helper()
	return c.ask(tb, "snmpwalk", nil, root)
}

// BulkWalk gives everything at and below root, by GetBulk.
func (c Client) BulkWalk(tb testing.TB, maxRepetitions int, root smi.OID) []smi.Variable {
	tb.Helper()
	return c.ask(tb, "snmpbulkwalk", []string{"-Cr" + strconv.Itoa(maxRepetitions)}, root)
}

// Set tries to set name to an INTEGER and gives what the tool said where it
// was refused.
func (c Client) Set(ctx context.Context, name smi.OID, value int32) error {
	_, err := c.Run(ctx, "snmpset", nil, name.String(), "i", strconv.Itoa(int(value)))
	return err
}

func (c Client) ask(tb testing.TB, tool string, options []string, names ...smi.OID) []smi.Variable {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), toolTimeout)
	defer cancel()
	args := make([]string, len(names))
	for i, name := range names {
		args[i] = name.String()
	}
	out, err := c.Run(ctx, tool, options, args...)
	if err != nil {
		tb.Fatal(err)
	}
	variables, err := Parse(strings.NewReader(out))
	if err != nil {
		tb.Fatalf("%s: %v", tool, err)
	}
	return variables
}
