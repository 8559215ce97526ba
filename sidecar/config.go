// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/pnagent/pnagent/archive"
	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/collector/standby"
	"github.com/pnagent/pnagent/collector/uplink"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/notify"
	"github.com/pnagent/pnagent/otlp"
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
	Sinks        []*notify.Settings // of Alarms, by notify.Read
	TrapSinks    []string
	TrapUser     string // "" for SNMPv2c
	Inform       bool

	OTLP *otlp.Counts // of exports by the program, for the metrics; nil without

	Reread            func() (Config, error) // reads the configuration again, for Reload; nil where nothing can be read again
	Version, Revision string                 // of the program
	Log               *slog.Logger
}

// priority is that of the AgentX registration; 0 without one.
func (c *Config) priority() uint8 {
	if c.AgentX == "" {
		return 0
	}
	return c.AgentXPriority
}

// enterprise returns the private enterprise number of the root, or that of net-snmp for a root of no
// enterprise.
func (c *Config) enterprise() uint32 {
	if enterprises := (smi.OID{1, 3, 6, 1, 4, 1}); c.Root.HasPrefix(enterprises) && len(c.Root) > len(enterprises) {
		return c.Root[len(enterprises)]
	}
	return netSNMP
}

// queueFile returns the file of the notifications that wait for a sink; "" for none.
func (c *Config) queueFile(sink string) string {
	if c.AlarmState == "" {
		return ""
	}
	return strings.TrimSuffix(c.AlarmState, filepath.Ext(c.AlarmState)) + "." + sink + ".queue"
}

// notesFile returns the file of acknowledgements, silences and cleared alarms; "" for none.
func (c *Config) notesFile() string {
	if c.AlarmState == "" {
		return ""
	}
	return strings.TrimSuffix(c.AlarmState, filepath.Ext(c.AlarmState)) + ".notes"
}

// writable returns an error if a directory of state cannot be made, or is not writable.
func (c *Config) writable() error {
	for _, one := range []struct{ flag, file string }{
		{"mib-dir", c.Lock}, {"state-dir", c.StateDir}, {"alarm-state", c.AlarmState},
	} {
		if one.file == "" {
			continue
		}
		dir := one.file
		if one.flag != "state-dir" {
			dir = filepath.Dir(dir)
		}
		if err := tryFile(dir); err != nil {
			return cli.OfFlag(one.flag, fmt.Errorf("%s is not writable: %w; expected a directory in which pnagent may make files", dir, err))
		}
	}
	return nil
}

// tryFile makes a file in a directory, or in the one above that exists, and removes it.
func tryFile(dir string) error {
	for {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		dir = filepath.Dir(dir)
	}
	f, err := os.CreateTemp(dir, ".pnagent-check-*")
	if err != nil {
		return errors.Unwrap(err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
