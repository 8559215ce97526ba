// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"time"

	"github.com/gosnmp/gosnmp"
)

const (
	// flows are the requests that show whether one engine answers at an address. Each is sent from a
	// port of its own, since a balancer chooses the agent by that.
	flows = 4
	// timeWindow is by how much an agent and a manager may differ (RFC 3414, section 2.2.3).
	timeWindow = 150 * time.Second
)

// engines reports whether all requests meet the same engine of SNMPv3. A manager that meets several at
// one address believes the first, and gets no data from the others.
func (d *doctor) engines(ctx context.Context, m *Manager) (cause string, hints []Hint) {
	own := Hint{snmpd, "agentAddress udp:ADDRESS-OF-THIS-HOST-ALONE"}
	var first *gosnmp.UsmSecurityParameters
	var begun time.Time
	for range flows {
		now, err := m.discover(ctx, d.Within)
		if err != nil {
			return "", nil // which the request by the user shows
		}
		if first == nil {
			first, begun = now, time.Now()
			continue
		}
		id := hex.EncodeToString([]byte(first.AuthoritativeEngineID))
		ahead := time.Duration(int64(now.AuthoritativeEngineTime)-int64(first.AuthoritativeEngineTime))*time.Second - time.Since(begun)
		switch {
		case now.AuthoritativeEngineID != first.AuthoritativeEngineID:
			return fmt.Sprintf("two agents answer at this address, with the engine ids %s and %x: a manager that knows one is unknown to the other", id, now.AuthoritativeEngineID), []Hint{own}
		case now.AuthoritativeEngineBoots != first.AuthoritativeEngineBoots, ahead.Abs() > timeWindow:
			return fmt.Sprintf("two agents with the same engine id %s answer at this address, one started %d times and the other %d, so requests are outside of the time window of one of them: a host was copied with the file of its engine",
				id, first.AuthoritativeEngineBoots, now.AuthoritativeEngineBoots), []Hint{own, {"run on the copy", "systemctl stop snmpd; rm /var/lib/snmp/snmpd.conf; systemctl start snmpd"}}
		}
	}
	return "", nil
}

// kept compares the engine that snmpd has with the one in its file. One that does not keep its
// id and how often it started is refused by managers after its next start.
func (m *Manager) kept(c *gosnmp.GoSNMP) Finding {
	f := Finding{Check: "master.engine", Looked: m.State, Outcome: Unknown}
	usm, ok := c.SecurityParameters.(*gosnmp.UsmSecurityParameters)
	text, err := os.ReadFile(m.State)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Cause = "there is no such file: give the one in which snmpd keeps its engine by --manager.snmpd-state"
		return f
	case err != nil || !ok:
		f.Cause = fmt.Sprintf("run it as root to see whether snmpd keeps its engine: %v", err)
		return f
	}
	id, boots := fileOfEngine(string(text))
	if id == usm.AuthoritativeEngineID && boots >= uint64(usm.AuthoritativeEngineBoots) {
		f.Outcome, f.Cause = OK, "snmpd keeps its engine id and how often it started"
		return f
	}
	f.Outcome = Fails
	f.Cause = fmt.Sprintf("the file has the engine id %x that started %d times, and snmpd is %x that started %d times: it cannot write there, so after its next start managers get errors of the engine id or of the time window",
		id, boots, usm.AuthoritativeEngineID, usm.AuthoritativeEngineBoots)
	f.Hints = []Hint{{"run", "chown -R USER-OF-SNMPD " + m.State[:len(m.State)-len("/snmpd.conf")] + " && systemctl restart snmpd"}}
	return f
}

// keptLine matches a line of the file in which snmpd keeps its engine.
var keptLine = regexp.MustCompile(`(?m)^(engineBoots|oldEngineID)\s+(?:0x)?([0-9A-Fa-f]+)\s*$`)

// fileOfEngine returns the engine in such a file.
func fileOfEngine(text string) (id string, boots uint64) {
	for _, line := range keptLine.FindAllStringSubmatch(text, -1) {
		if line[1] == "engineBoots" {
			boots, _ = strconv.ParseUint(line[2], 10, 32) // 0 is none
			continue
		}
		octets, _ := hex.DecodeString(line[2])
		id = string(octets)
	}
	return id, boots
}
