// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// skewed is the difference of clocks, in seconds, from which the page reports it too.
	skewed = 5
	// roomy is the least free space of a directory, in bytes.
	roomy = 100 << 20
)

// sidecar reports whether it answers, and how current its numbers are.
func (d *doctor) sidecar(context.Context) []Finding {
	f := Finding{Check: "sidecar", Looked: d.URL, Outcome: Fails}
	v := d.view
	switch {
	case v == nil:
		f.Cause, f.Hints = d.viewErr.Error(), []Hint{{"run", "systemctl status pnagent"}, d.flag("web.listen-address", d.Sidecar.Web)}
	case v.NATS != nil && !v.NATS.Connected:
		f.Cause = "it has no connection to NATS: " + v.NATS.Reason
	case v.Age > skewed:
		f.Cause, f.Hints = fmt.Sprintf("it has made no View for %.0f s", v.Age), []Hint{{"run", "systemctl restart pnagent"}}
	case v.States.Up == 0:
		f.Outcome, f.Cause = Unknown, "it answers, and no engine reports to it"
	default:
		f.Outcome, f.Cause = OK, fmt.Sprintf("%d nets of %d sources that are up", len(v.Nets), v.States.Up)
	}
	return []Finding{f}
}

// clocks reports how far the clocks of sources differ from that of the sidecar.
func (d *doctor) clocks(context.Context) []Finding {
	f := Finding{Check: "clocks", Looked: "clocks of sources, as the sidecar sees them", Outcome: OK, Cause: fmt.Sprintf("none differs by more than %d s", skewed)}
	if d.view == nil || len(d.view.Sources) == 0 {
		f.Outcome, f.Cause = Unknown, "no source is seen"
		return []Finding{f}
	}
	var apart []string
	for i := range d.view.Sources {
		s := &d.view.Sources[i]
		if s.SkewBeyond || s.Skew > skewed || s.Skew < -skewed {
			apart = append(apart, fmt.Sprintf("%s by %.0f s", s.Name, s.Skew))
		}
	}
	if len(apart) > 0 {
		slices.Sort(apart)
		f.Outcome, f.Cause = Fails, "clocks are ahead of the sidecar's, or behind it: "+strings.Join(slices.Compact(apart), ", ")
		f.Hints = []Hint{{"run on those hosts", "timedatectl set-ntp true"}}
	}
	return []Finding{f}
}

// state looks at each directory in which the sidecar writes.
func (d *doctor) state(context.Context) (all []Finding) {
	dirs := map[string]string{}
	add := func(flag, dir string) {
		if dir != "" {
			dirs[dir] = flag
		}
	}
	cfg := &d.Sidecar
	if cfg.AlarmState != "" {
		add("alarm-state", filepath.Dir(cfg.AlarmState))
	}
	if cfg.Lock != "" {
		add("mib-dir", filepath.Dir(cfg.Lock))
	}
	add("state-dir", cfg.StateDir)
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		all = append(all, d.directory(dir, dirs[dir]))
	}
	if len(cfg.Users) > 0 && cfg.StateDir == "" {
		all = append(all, Finding{"state.engine", "the SNMPv3 engine id", Fails, "it is not kept, so managers must learn it again after each start", []Hint{d.flag("state-dir", "/var/lib/pnagent")}})
	}
	return all
}

// directory reports whether files can be made in a directory, or it in the one above.
func (d *doctor) directory(dir, flag string) Finding {
	f := Finding{Check: "state", Looked: fmt.Sprintf("%s (--%s), as user %s", dir, flag, d.self), Outcome: Fails}
	at := dir
	for {
		_, err := os.Stat(at)
		if !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			break
		}
		at = filepath.Dir(at)
	}
	trial, err := os.CreateTemp(at, ".pnagent-doctor-*")
	if err != nil {
		f.Cause = err.Error()
		f.Hints = []Hint{{"run", "install -d -o USER-OF-THE-SIDECAR -m 0750 " + dir}, d.flag(flag, dir)}
		return f
	}
	_ = trial.Close()           // nothing was written
	_ = os.Remove(trial.Name()) // it is empty
	free, known := freeSpace(at)
	switch {
	case !known:
		f.Outcome, f.Cause = Unknown, "files can be made; how much space is free is not known here"
	case free < roomy:
		f.Cause, f.Hints = fmt.Sprintf("%d MiB are free", free>>20), []Hint{d.flag(flag, "DIRECTORY-WITH-ROOM")}
	default:
		f.Outcome, f.Cause = OK, fmt.Sprintf("files can be made, %d MiB are free", free>>20)
	}
	return f
}

// need is a flag of serve that has no effect without one of others.
type need struct {
	flag      string
	oneOf     []string
	receivers bool // receivers in the rules for alarms do as well
}

// needs lists those flags. That serve refuses a combination is not repeated here.
func needs() []need {
	agent, notifies := []string{"snmp"}, []string{"snmp.trap-sink"}
	return []need{
		{flag: "snmp.inform", oneOf: notifies}, {flag: "snmp.trap-user", oneOf: notifies},
		{flag: "snmp.packet-rate", oneOf: agent}, {flag: "snmp.octet-rate", oneOf: agent}, {flag: "snmp.allow-from", oneOf: agent}, {flag: "snmp.allow-public", oneOf: agent},
		{flag: "snmp.community-file", oneOf: []string{"snmp", "snmp.trap-sink"}}, {flag: "snmp.users-file", oneOf: []string{"snmp", "snmp.trap-sink"}},
		{"agentx.priority", []string{"agentx", "snmp.trap-sink"}, true}, {"standby.key-file", []string{"agentx", "snmp.trap-sink"}, true},
		{flag: "web.prometheus.config.file", oneOf: []string{"web.prometheus"}}, {flag: "web.prometheus.matchers", oneOf: []string{"web.prometheus"}},
		{flag: "otlp.protocol", oneOf: []string{"otlp.endpoint"}}, {flag: "otlp.interval", oneOf: []string{"otlp.endpoint"}},
	}
}

// Flags returns the flags of serve that the doctor names.
func Flags() (all []string) {
	for _, n := range needs() {
		all = append(append(all, n.flag), n.oneOf...)
	}
	return append(all, "web.systemd-socket", "web.listen-address", "from-zero", "up", "state-dir")
}

// flags reports those that have no effect.
func (d *doctor) flags(context.Context) (all []Finding) {
	idle := func(flag, why string) {
		hint := Hint{d.configured(), "(remove) --" + flag}
		if d.File != "" {
			hint.Line = "(remove) " + flag
		}
		all = append(all, Finding{"flags", d.configured(), Fails, "--" + flag + " has no effect: " + why, []Hint{hint}})
	}
	for _, n := range needs() {
		useful := n.receivers && len(d.Sidecar.Sinks) > 0 || slices.ContainsFunc(n.oneOf, func(f string) bool { return d.Given[f] })
		if d.Given[n.flag] && !useful {
			idle(n.flag, "it needs --"+strings.Join(n.oneOf, " or --"))
		}
	}
	if d.Given["web.systemd-socket"] && d.Given["web.listen-address"] {
		idle("web.listen-address", "systemd passes the socket")
	}
	if d.Given["from-zero"] && d.Sidecar.StateDir != "" && d.Sidecar.Up == nil {
		idle("from-zero", "it is the default where --state-dir keeps counters and there is no --up")
	}
	if host, _, err := net.SplitHostPort(d.Sidecar.SNMP); err == nil && d.Given["snmp.allow-public"] && net.ParseIP(host).IsLoopback() {
		idle("snmp.allow-public", "--snmp is an address of the loopback")
	}
	if len(all) == 0 {
		all = []Finding{{"flags", d.configured(), OK, "each flag that is given has an effect", nil}}
	}
	return all
}
