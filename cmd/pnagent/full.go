// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/pnagent/pnagent/cli"
)

// The flags of the commands of pnagent-full, except those of attach, which are in its folders. Files
// with what the commands do are left out of a program with the tag slim: see cli.FullOnly.

// What help texts have of packages that such a program does not have either.
const (
	defaultRunbooks = "https://github.com/pnagent/pnagent/blob/main/docs/runbooks"
	defaultJob      = "pnagent"
	allTools        = "zabbix, snmp-exporter, telegraf, nagios, icinga, collectd, librenms, cacti, snmptrapd, snmptt, alertmanager"
)

type demoCmd struct {
	cli.FullOnly
	For       time.Duration `placeholder:"60s" help:"Stop after this time. Without it the demo runs until it is interrupted."`
	Instances int           `default:"50" help:"Instances of each net at each of the two sources."`
	HTTP      string        `name:"http" default:"127.0.0.1:9797" help:"TCP address for metrics and the API."`
	SNMP      string        `name:"snmp" default:"127.0.0.1:1161" help:"UDP address of the built-in SNMP responder."`
	NATS      string        `name:"nats" default:"127.0.0.1:0" help:"TCP address of the embedded NATS server; port 0 selects a free one."`
	AgentX    string        `name:"agentx" placeholder:"ADDR" help:"Also serve through this AgentX master: unix:/path or tcp:host:port."`
	sidecarFlags
}

type doctorCmd struct {
	cli.FullOnly
	Serve      serveCmd      `embed:""`
	URL        string        `name:"url" placeholder:"URL" help:"Address of the sidecar's HTTP server: a URL, or HOST:PORT. Default: --web.listen-address."`
	HTTPConfig string        `name:"http.config.file" type:"path" placeholder:"FILE" help:"YAML file with HTTP client settings for the sidecar, in promtool's format."`
	Address    string        `name:"manager.address" default:"127.0.0.1:161" placeholder:"ADDR" help:"Where managers ask snmpd, host:port; with --agentx only."`
	Community  string        `name:"manager.community-file" type:"path" placeholder:"FILE" help:"File with the community by which managers ask snmpd. Default: that of serve, or public."`
	User       string        `name:"manager.user" placeholder:"NAME" help:"User of SNMPv3 by which managers ask snmpd, instead of a community."`
	UsersFile  string        `name:"manager.users-file" type:"path" placeholder:"FILE" help:"File with the passphrases of --manager.user, in the format of --snmp.users-file, which is the default."`
	Snmpd      string        `name:"manager.snmpd-conf" type:"path" default:"/etc/snmp/snmpd.conf" placeholder:"FILE" help:"Configuration of snmpd, if it can be read: to name the view that hides the subtree."`
	SnmpdState string        `name:"manager.snmpd-state" type:"path" default:"/var/lib/snmp/snmpd.conf" placeholder:"FILE" help:"File in which snmpd keeps its engine id and how often it started: with --manager.user, to see whether it does."`
	JetStream  bool          `name:"jetstream" help:"Engines keep their journals in JetStream: also look at that."`
	Within     time.Duration `default:"8s" help:"Time limit of each check; all run side by side."`
	JSON       bool          `help:"Print a JSON array of what was looked at, with outcome (ok, fails, unknown), cause and hints."`
	FixHints   bool          `help:"Print only the lines to add, by file."`
}

type checkConfigCmd struct {
	cli.FullOnly
	File    string `arg:"" help:"Configuration file of serve, or file with rules for alarms."`
	Connect bool   `help:"Also connect to NATS, the AgentX master, the sinks and Prometheus, for at most 5 seconds each. Nothing is registered or sent that they show."`
	JSON    bool   `name:"json" help:"Print one JSON object."`
}

type convertCmd struct {
	cli.FullOnly
	To     string     `enum:",pnml,net,dot" default:"" placeholder:"FORMAT" help:"Format to write: pnml, net (of Tina) or dot. Default: that of the name of --output."`
	Output string     `short:"o" default:"-" placeholder:"FILE" help:"File to write; - is standard output."`
	Net    string     `placeholder:"ID" help:"Net to write, if there are several."`
	Files  []string   `arg:"" name:"net" help:"Net files: PNML, BPMN, Tina's .net or LoLA; - is standard input."`
	Limit  cli.Limits `embed:""`
}

type dashboardsCmd struct {
	cli.FullOnly
	Dir string `default:"dashboards" help:"Directory to write grafana/ and prometheus/ into."`
	alertingFlags
}

// alertingFlags are for the rules of Prometheus, and for Alertmanager.
type alertingFlags struct {
	Runbooks string   `default:"${runbooks}" placeholder:"URL" help:"Address of the runbooks in alerts."`
	Job      string   `default:"${job}" help:"Name of the job by which Prometheus scrapes pnagent."`
	Page     string   `default:"http://127.0.0.1:9797" placeholder:"URL" help:"Address of the live page in messages of Alertmanager."`
	Team     []string `default:"webhook" placeholder:"KIND" help:"Kinds of receivers of all alerts in Alertmanager's configuration: mail, opsgenie, pagerduty, slack, teams or webhook."`
	Pager    []string `default:"webhook" placeholder:"KIND" help:"Kinds of receivers of critical alerts."`
}

type integrationsCmd struct {
	cli.FullOnly
	Tool    string `arg:"" help:"Tool to configure: ${tools}, or all."`
	Dir     string `default:"integrations" help:"Directory to write a directory for each tool into."`
	OIDRoot string `name:"oid-root" default:"${oid_root}" help:"OID under which everything is served."`
	MibDir  string `name:"mib-dir" default:"mibs" help:"Directory of the lock."`
	Lock    string `placeholder:"FILE" help:"File that holds the numbers of nets, places and transitions. Default: oids.lock in --mib-dir."`
	Alarms  string `placeholder:"FILE" help:"YAML file with the thresholds of alarms, as for serve. Checks of places and transitions have the same."`
	alertingFlags
	Files []string   `arg:"" name:"net" optional:"" help:"Net files: PNML, BPMN, Tina's .net or LoLA; - is standard input. Nagios and Icinga get checks of their places and transitions; other tools discover them."`
	Limit cli.Limits `embed:""`
}

type reportCmd struct {
	cli.FullOnly
	apiFlags
	Prometheus string        `placeholder:"URL" help:"URL of the Prometheus that scrapes the sidecars. Without it, the report covers the last hour, as kept by the sidecar."`
	Since      time.Duration `default:"1h" placeholder:"DURATION" help:"Length of the report, up to now, such as 1h or 7d."`
	Net        string        `placeholder:"ID" help:"The only net to report."`
	Output     string        `short:"o" default:"report.html" placeholder:"FILE" help:"File to write the page to; - is standard output."`
}

type simulateCmd struct {
	cli.FullOnly
	Bindings   string        `type:"path" placeholder:"FILE" help:"YAML file of bindings: how long transitions take, and under simulate the arrivals, the pools of people and the weights of choices."`
	From       string        `type:"path" placeholder:"FILE" help:"Event log in XES, plain or gzip, from which to learn what the bindings do not have under simulate: the durations of activities, the arrivals of cases and how often each branch is taken."`
	For        time.Duration `default:"30d" help:"Simulated time of a run, such as 8h or 30d."`
	Runs       int           `default:"100" help:"Number of independent runs."`
	Warmup     string        `default:"auto" placeholder:"auto|DURATION" help:"How much of the begin of each run does not count; auto determines it from 10 pilot runs, by the rule MSER, and is 0 if those come to an end."`
	Vary       string        `placeholder:"POOL=FROM..TO" help:"Simulate each size of a pool, as in clerks=1..8, print a line for each, and the smallest size at which the queue does not grow and at which it is gone."`
	Instances  int           `default:"1" help:"Instances of the net, if the bindings have no arrivals."`
	Seed       uint64        `default:"1" help:"Seed of all random choices: the same seed and flags give the same numbers."`
	Confidence float64       `default:"0.95" help:"Confidence of each interval."`
	StuckAfter time.Duration `name:"stuck-after" default:"10m" help:"A token that stays longer in a place counts as stuck."`
	Start      string        `default:"2030-01-01T00:00:00Z" placeholder:"TIME" help:"Simulated time at which runs begin; it matters for times of day and dates."`
	JSON       bool          `help:"Print JSON instead of tables."`
	Report     string        `placeholder:"FILE" help:"Also write an HTML page with the numbers; - is standard output, instead of tables."`
	MaxFirings int           `name:"max-firings" default:"100000000" help:"Maximum number of firings in a run."`
	MaxTokens  int           `name:"max-tokens" default:"1000000" help:"Maximum number of tokens in a run."`
	File       string        `arg:"" name:"net" help:"Net file: PNML, BPMN, Tina's .net or LoLA; - is standard input."`
	Net        string        `placeholder:"ID" help:"The net to simulate, if the file has several."`
	Limit      cli.Limits    `embed:""`
}

type topCmd struct {
	cli.FullOnly
	apiFlags
	Show string `enum:"nets,places,transitions,sources,alarms" default:"places" help:"The first table: nets, places, transitions, sources or alarms."`
	Once bool   `help:"Print the whole table once as plain text, and exit; for scripts and screen readers."`
}

type checkCmd struct {
	cli.FullOnly
	JSON      bool       `help:"Print one JSON object for each net instead of text."`
	Explore   int        `placeholder:"N" help:"Also visit up to N reachable markings of each net, and print one JSON line: the number of markings, of dead markings (deadlocks) and of proper ends, which have tokens only in final places (ends), the bound of each place, a shortest path to a deadlock, whether the net is sound, with a shortest path to what is not (soundness), and the weighted sums of tokens that never change. Without --json, it also prints this in words."`
	Deadlocks int        `placeholder:"N" help:"Also look for deadlocks in up to N markings, and print one JSON line: a shortest path to a dead marking that is not a proper end (a deadlock), and how many deadlocks and proper ends there are. It visits only the markings that are needed for this (stubborn sets), often far fewer than --explore; all of them if the net has inclusive gateways, scopes (as of sub-processes and boundary events), urgent transitions (those that catch an event) or events that begin an instance."`
	Objects   string     `name:"objects" default:"work" enum:"work,all" help:"Places and transitions to print and to count: work, those of the drawing of a BPMN process, or all, also those by which pnagent keeps books of it. All of them are visited."`
	Query     string     `placeholder:"FILE" help:"Answer the properties of a file in the XML format of the Model Checking Contest: reachability (EF, AG) and upper bounds. It prints one line a property, as in the contest or, with --json, as JSON. It visits up to N markings of --explore, or as many as are needed."`
	Files     []string   `arg:"" name:"net" help:"Net files: PNML, BPMN, Tina's .net or LoLA; and DMN files with the decisions that they call; - is standard input."`
	Limit     cli.Limits `embed:""`
	Visit     visitFlags `embed:""`
}

// alertingTool is the tool whose files package dashboards writes.
const alertingTool = "alertmanager"

// byteSize is a number of bytes as a flag: 512MiB, 2GiB or 1000000.
type byteSize int64

// UnmarshalText reads the value of the flag.
func (b *byteSize) UnmarshalText(text []byte) error {
	digits, unit := string(text), int64(1)
	for i, suffix := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if rest, ok := strings.CutSuffix(digits, suffix); ok {
			digits, unit = rest, 1<<(10*(i+1))
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/unit {
		return fmt.Errorf("invalid size %q; expected a whole number of bytes, KiB, MiB, GiB or TiB, as in 2GiB", text)
	}
	*b = byteSize(n * unit)
	return nil
}

// visitFlags bound the visits of markings.
type visitFlags struct {
	Memory byteSize `name:"explore.memory" default:"2GiB" help:"Maximum memory for the markings of --explore, --deadlocks or --query, such as 512MiB; 0 for no bound. A visit that reaches it is not complete."`
}
