// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"log/slog"
	"net"
	"path/filepath"
	"strings"

	"github.com/pnagent/pnagent/archive"
	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/collector/standby"
	"github.com/pnagent/pnagent/collector/uplink"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/snmp"
	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/telemetry/natslink"
	"github.com/pnagent/pnagent/web"
	"github.com/pnagent/pnagent/web/api"
)

// Config is what a sidecar is made of. Link, Root, Web and Log are needed; any other field may be
// zero. Errors name the flags of pnagent serve that set the fields.
type Config struct {
	Link     *natslink.Link // to the engines; the caller closes it after Run
	Subjects telemetry.Subjects
	Connect  *api.Connect // how engines connect to the same NATS, for the page; nil shows nothing
	Nets     []*petri.Net // that are shown before an engine runs them
	PNML     pnml.Limits  // of definitions that are received; zero is pnml.DefaultLimits
	Merge    merge.Rules
	Allow    func(net string) bool // nil allows every net
	Share    merge.Share           // the zero Share is all
	Up       *uplink.Config        // nil without a sidecar above
	UpLink   *natslink.Link        // to it, if it is another than Link; else nil. The caller closes it
	StateDir string                // of the counters; "" keeps them in memory
	FromZero bool                  // counts.Config.FromZero

	Root smi.OID
	Lock string // file of the numbers; "" keeps them in memory

	AgentX         string       // address of the master; "" for none
	AgentXPriority uint8        // also in the pair; see mib.PrimaryPriority
	Contexts       bool         // a context for each net
	StandbyKeys    standby.Keys // of the pair; nil for none
	SNMP           string       // address of the responder; "" for none
	Responder      snmp.Config  // its rates and networks
	Community      string
	CommunitySet   bool // not merely the default, so that it may be served off the loopback
	Users          []snmp.User

	Web            string                       // address for HTTP
	Listen         func() (net.Listener, error) // opens the socket for HTTP; nil listens at Web
	WebConfig      string                       // file of exporter-toolkit: TLS and basic authentication
	Hosts          []string                     // names by which browsers reach the sidecar
	FrameAncestors []string
	Actions        bool // take changes over HTTP
	Links          web.Links
	Archive        *archive.Archive // nil without Prometheus
	History        int              // MiB for the last hour
	Viewers        int
	PerAddress     int // viewers at one address
	SeriesBudget   int
	CreatedSamples bool

	Alarms       *alarm.Rules // nil for alarm.DefaultRules
	AlarmState   string       // file of active alarms; "" keeps them in memory
	AlarmHistory int
	TrapSinks    []string
	TrapUser     string // "" for SNMPv2c
	Inform       bool

	Reread            func() (*alarm.Rules, error) // reads Alarms again, for Reload; nil where nothing can be read again
	Version, Revision string                       // of the program
	Log               *slog.Logger
}

// priority is that of the AgentX registration; 0 without one.
func (c *Config) priority() uint8 {
	if c.AgentX == "" {
		return 0
	}
	return c.AgentXPriority
}

// notesFile returns the file of acknowledgements, silences and cleared alarms; "" for none.
func (c *Config) notesFile() string {
	if c.AlarmState == "" {
		return ""
	}
	return strings.TrimSuffix(c.AlarmState, filepath.Ext(c.AlarmState)) + ".notes"
}
