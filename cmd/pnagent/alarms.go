// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/web/api"
)

type alarmsCmd struct {
	List      alarmsListCmd      `cmd:"" default:"withargs" help:"List the active alarms of a sidecar, or those that were cleared last."`
	Ack       alarmsAckCmd       `cmd:"" help:"Acknowledge active alarms."`
	Unack     alarmsUnackCmd     `cmd:"" help:"Withdraw the acknowledgement of active alarms."`
	Close     alarmsCloseCmd     `cmd:"" help:"Close alarms of which it is not known whether they hold, such as those of an engine that never comes back."`
	Silence   alarmsSilenceCmd   `cmd:"" help:"Hold back the notifications of alarms for a time."`
	Unsilence alarmsUnsilenceCmd `cmd:"" help:"End a silence before its time."`
	Suggest   alarmsSuggestCmd   `cmd:"" help:"Print rules for transitions that fired regularly in the past, so that firingMissed is raised when they stop."`
}

// errFound is the result of a command whose exit code reports that something was found. It
// is not written.
var errFound = errors.New("alarms are active")

type alarmsListCmd struct {
	apiFlags
	ExitCode bool   `name:"exit-code" help:"Exit with status 1 if an alarm is listed that is not silenced and follows from no other one."`
	Cleared  bool   `help:"List the alarms that were cleared last, the newest first."`
	Severity string `enum:"critical,major,minor,warning" default:"warning" help:"Leave out alarms that are less serious: critical, major, minor or warning."`
	JSON     bool   `name:"json" help:"Print the alarms as JSON, as the API has them."`
}

// Run prints the alarms.
func (c *alarmsListCmd) Run(ctx context.Context, s streams) error {
	if c.Cleared {
		return listed(ctx, s, c, "alarms/cleared", writeCleared, func(alarms *api.ClearedAlarms) bool {
			alarms.Cleared = slices.DeleteFunc(alarms.Cleared, func(a api.ClearedAlarm) bool { return c.below(a.Severity) })
			return len(alarms.Cleared) > 0
		})
	}
	return listed(ctx, s, c, "alarms", writeAlarms, func(alarms *api.Alarms) bool {
		alarms.Active = slices.DeleteFunc(alarms.Active, func(a api.Alarm) bool { return c.below(a.Severity) })
		return slices.ContainsFunc(alarms.Active, func(a api.Alarm) bool { return a.SilencedUntil == 0 && a.Follows == "" })
	})
}

// listed asks for a document with alarms and prints it. choose leaves in it what the flags ask for, and
// reports whether that is found as --exit-code means it.
func listed[T any](ctx context.Context, s streams, c *alarmsListCmd, path string, write func(io.Writer, *T) error, choose func(*T) bool) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	alarms, err := api.Get[T](ctx, client, path, nil)
	if err != nil {
		return fmt.Errorf("asking the sidecar: %w (%s)", err, c.shown())
	}
	found := choose(alarms)
	if c.JSON {
		err = api.Encode(s.out, alarms)
	} else {
		err = write(s.out, alarms)
	}
	if err == nil && c.ExitCode && found {
		return errFound
	}
	return err
}

// below reports whether a severity is less serious than that of the flag.
func (c *alarmsListCmd) below(severity string) bool {
	least, _ := alarm.SeverityNamed(c.Severity) // the flag's enum has no others
	s, _ := alarm.SeverityNamed(severity)
	return s > least
}

// writeAlarms writes a table of alarms, and one of silences.
func writeAlarms(out io.Writer, alarms *api.Alarms) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if len(alarms.Active) == 0 {
		fmt.Fprintln(w, "no active alarms")
	} else {
		fmt.Fprintln(w, "INDEX\tSEVERITY\tALARM\tNET\tABOUT\tAGE\tNOTE\tTEXT")
	}
	for i := range alarms.Active {
		a := &alarms.Active[i]
		row(w, a.Index, a.Severity, a.Alarm, a.Net, a.About(), ageOf(a), stateOf(a), a.Text)
	}
	writeUnknown(w, alarms.Active)
	if len(alarms.Silences) > 0 {
		fmt.Fprintln(w, "\nSILENCE\tUNTIL\tBY\tOF\tCOMMENT")
	}
	for i := range alarms.Silences {
		row(w, silenceRow(&alarms.Silences[i])...)
	}
	return w.Flush()
}

func writeCleared(out io.Writer, alarms *api.ClearedAlarms) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if len(alarms.Cleared) == 0 {
		fmt.Fprintln(w, "no cleared alarms")
	} else {
		fmt.Fprintln(w, "INDEX\tSEVERITY\tALARM\tNET\tABOUT\tRAISED\tCLEARED\tNOTE\tTEXT")
	}
	for i := range alarms.Cleared {
		a := &alarms.Cleared[i]
		row(w, a.Index, a.Severity, a.Alarm, a.Net, a.About(), moment(a.Raised), moment(a.Cleared), noteOf(a.Acknowledged, 0), a.Text)
	}
	return w.Flush()
}

// row writes cells in one line, with "-" for empty ones.
func row(w io.Writer, cells ...any) {
	texts := make([]string, len(cells))
	for i, cell := range cells {
		if texts[i] = strings.Join(strings.Fields(fmt.Sprint(cell)), " "); texts[i] == "" {
			texts[i] = "-"
		}
	}
	fmt.Fprintln(w, strings.Join(texts, "\t"))
}

func silenceRow(s *api.Silence) []any {
	var of []string
	for _, part := range []struct{ name, pattern string }{{"alarm", s.Alarm}, {"net", s.Net}, {"place", s.Place}, {"transition", s.Transition}, {"source", s.Source}, {"for_reason", s.ForReason}} {
		if part.pattern != "" {
			of = append(of, part.name+"="+part.pattern)
		}
	}
	until := moment(s.Until)
	if s.Pending {
		until = "from " + moment(s.From) + " until " + until
	}
	if s.Cron != "" {
		until += fmt.Sprintf(", recurs %q %s", s.Cron, cmp.Or(s.Zone, "UTC"))
	}
	return []any{s.ID, until, s.By, strings.Join(of, " "), s.Comment}
}

// stateOf returns what is known of an alarm besides its numbers: what operators noted, and
// whether it holds.
func stateOf(a *api.Alarm) string {
	notes := []string{noteOf(a.Acknowledged, a.SilencedUntil)}
	if a.Unknown != "" {
		notes = append(notes, "unknown")
	}
	if a.Follows != "" {
		notes = append(notes, "follows from "+a.Follows)
	}
	return strings.Join(slices.DeleteFunc(notes, func(n string) bool { return n == "" }), ", ")
}

// writeUnknown says what ends the alarms that are unknown, by reason.
func writeUnknown(w io.Writer, alarms []api.Alarm) {
	count := map[string]int{}
	var reasons []string
	for i := range alarms {
		if why := alarms[i].Unknown; why != "" {
			if count[why] == 0 {
				reasons = append(reasons, why)
			}
			count[why]++
		}
	}
	if len(reasons) == 0 {
		return
	}
	fmt.Fprintln(w, "\nUNKNOWN\tREASON")
	for _, why := range reasons {
		row(w, count[why], why)
	}
	fmt.Fprintln(w, "\nIt is not known whether these alarms still hold. Each ends once its source reports again or stops cleanly, or if you close it: pnagent alarms close")
}

// noteOf returns what operators noted about an alarm.
func noteOf(ack *api.Ack, silenced api.Time) string {
	var notes []string
	if ack != nil {
		notes = append(notes, "acknowledged by "+ack.By)
	}
	if silenced != 0 {
		notes = append(notes, "silenced until "+moment(silenced))
	}
	return strings.Join(notes, ", ")
}

func moment(t api.Time) string { return t.Time().Format(time.RFC3339) }

func ageOf(a *api.Alarm) string {
	if a.Age == nil {
		return ""
	}
	return length(*a.Age)
}

func length(seconds float64) string {
	return time.Duration(seconds * float64(time.Second)).Round(time.Second).String()
}

// changeFlags are those of the commands that change something.
type changeFlags struct {
	apiFlags
	JSON bool `name:"json" help:"Print the answer as JSON."`
}

// post sends a change and writes the answer, or text if it is not to be JSON.
func post[T any](ctx context.Context, s streams, f *changeFlags, path string, change any, text func(*T) string) error {
	client, err := f.client()
	if err != nil {
		return err
	}
	answer, err := api.Post[T](ctx, client, path, author(), change)
	switch {
	case err != nil:
		return fmt.Errorf("%w (%s)", err, f.shown())
	case f.JSON:
		return api.Encode(s.out, answer)
	}
	_, err = fmt.Fprintln(s.out, text(answer))
	return err
}

// ackFlags name alarms.
type ackFlags struct {
	changeFlags
	Indices []uint32 `arg:"" name:"index" help:"Indices of active alarms."`
	Comment string   `placeholder:"TEXT" help:"Why, for other operators; at most 1024 bytes."`
}

func (f *ackFlags) run(ctx context.Context, s streams, path, said string) error {
	return post(ctx, s, &f.changeFlags, path, api.Acknowledge{Indices: f.Indices, Comment: f.Comment}, func(*api.Done) string {
		return said + strings.Trim(fmt.Sprint(f.Indices), "[]")
	})
}

type alarmsAckCmd struct{ ackFlags }

// Run acknowledges alarms.
func (c *alarmsAckCmd) Run(ctx context.Context, s streams) error {
	return c.run(ctx, s, "alarms/ack", "acknowledged: ")
}

type alarmsUnackCmd struct{ ackFlags }

// Run withdraws acknowledgements.
func (c *alarmsUnackCmd) Run(ctx context.Context, s streams) error {
	return c.run(ctx, s, "alarms/unack", "no longer acknowledged: ")
}

// selectionFlags select alarms, as api.Selection.
type selectionFlags struct {
	Alarm      string `placeholder:"KIND" help:"Kind of alarms, such as tokenStuck. Default: all."`
	Net        string `placeholder:"PATTERN" help:"Net; * is any text and ? one character, here and below. The net * is all alarms."`
	Place      string `placeholder:"PATTERN" help:"Place: only alarms about places."`
	Transition string `placeholder:"PATTERN" help:"Transition: only alarms about transitions."`
	Source     string `placeholder:"PATTERN" help:"Source: ${about_sources}."`
	ForReason  string `placeholder:"REASON" help:"Only alarms of rules for this reason, such as noWorker."`
}

// selection returns what the flags select, if they name a kind that exists.
func (f *selectionFlags) selection() (api.Selection, error) {
	if _, known := alarm.KindNamed(f.Alarm); f.Alarm != "" && !known {
		var names []string
		for _, k := range alarm.Kinds() {
			names = append(names, k.String())
		}
		return api.Selection{}, cli.Usage(fmt.Errorf("--alarm: no kind of alarm is %q; expected one of %s", f.Alarm, strings.Join(names, ", ")))
	}
	if f.ForReason != "" && stats.ReasonNamed(f.ForReason) == stats.ReasonUnknown {
		return api.Selection{}, cli.Usage(fmt.Errorf("--for-reason: no reason is %q; expected such as noWorker or incident", f.ForReason))
	}
	return api.Selection(*f), nil
}

type alarmsCloseCmd struct {
	changeFlags
	Indices  []uint32       `arg:"" optional:"" name:"index" help:"Indices of active alarms. Default: those that match the patterns."`
	Selected selectionFlags `embed:"" set:"about_sources=alarms about sources, and those that are unknown because of them"`
	Comment  string         `placeholder:"TEXT" help:"Why, for other operators and in the notification; at most 1024 bytes."`
}

// Run closes alarms.
func (c *alarmsCloseCmd) Run(ctx context.Context, s streams) error {
	of, err := c.Selected.selection()
	switch {
	case err != nil:
		return err
	case len(c.Indices) == 0 && of == (api.Selection{}):
		return cli.Usage(errors.New("no alarms to close; expected indices, or --alarm, --net, --place, --transition, --source or --for-reason; --net '*' is all alarms"))
	case len(c.Indices) > 0 && of != (api.Selection{}):
		return cli.Usage(errors.New("indices and patterns; expected one of them"))
	}
	change := api.CloseAlarms{Indices: c.Indices, Comment: c.Comment, Selection: of}
	return post(ctx, s, &c.changeFlags, "alarms/close", change, func(done *api.Closed) string {
		text := "closed: " + cmp.Or(strings.Trim(fmt.Sprint(done.Indices), "[]"), "none")
		if len(done.Holding) > 0 {
			text += "\nknown to hold, so not closed: " + strings.Trim(fmt.Sprint(done.Holding), "[]")
		}
		return text
	})
}

type alarmsSilenceCmd struct {
	changeFlags
	For      time.Duration  `required:"" placeholder:"2h" help:"How long, up to 366 days; with --cron how long each time, up to 7 days."`
	From     time.Time      `placeholder:"TIME" help:"When it begins, such as 2026-12-24T18:00:00+01:00. Default: now."`
	Cron     string         `placeholder:"EXPR" help:"Begin again and again, at the times of a cron expression, such as '0 2 * * sat'."`
	Zone     string         `placeholder:"ZONE" help:"Time zone of --cron, such as Europe/Berlin. Default: UTC."`
	Ends     time.Time      `placeholder:"TIME" help:"When a silence with --cron ends for all times. Default: in ten years."`
	Selected selectionFlags `embed:"" set:"about_sources=only alarms about sources"`
	Comment  string         `placeholder:"TEXT" help:"Why, for other operators; at most 1024 bytes."`
}

// Run begins a silence.
func (c *alarmsSilenceCmd) Run(ctx context.Context, s streams) error {
	of, err := c.Selected.selection()
	switch {
	case err != nil:
		return err
	case of == (api.Selection{}):
		return cli.Usage(errors.New("a silence of nothing; expected --alarm, --net, --place, --transition, --source or --for-reason; --net '*' is all alarms"))
	case c.For <= 0 || c.For > alarm.MaxSilence:
		return cli.Usage(fmt.Errorf("--for: %s; expected more than 0 and at most 366d", c.For))
	}
	if c.Cron == "" && (c.Zone != "" || !c.Ends.IsZero()) {
		return cli.Usage(errors.New("--zone and --ends without --cron; expected all of them"))
	}
	change := api.NewSilence{For: c.For.Seconds(), From: timeOf(c.From), Cron: c.Cron, Zone: c.Zone, Ends: timeOf(c.Ends), Comment: c.Comment, Selection: of}
	return post(ctx, s, &c.changeFlags, "alarms/silence", change, func(silence *api.Silence) string {
		if silence.Pending {
			return fmt.Sprintf("silenced from %s until %s: %s", moment(silence.From), moment(silence.Until), silence.ID)
		}
		return fmt.Sprintf("silenced until %s: %s", moment(silence.Until), silence.ID)
	})
}

// timeOf returns a time of a flag; 0 for none.
func timeOf(t time.Time) api.Time {
	if t.IsZero() {
		return 0
	}
	return api.Time(t.UnixMicro())
}

type alarmsUnsilenceCmd struct {
	changeFlags
	ID string `arg:"" name:"id" help:"The silence, as silence printed it and list shows it."`
}

// Run ends a silence.
func (c *alarmsUnsilenceCmd) Run(ctx context.Context, s streams) error {
	return post(ctx, s, &c.changeFlags, "alarms/unsilence", api.EndSilence{ID: c.ID}, func(*api.Done) string { return "ended: " + c.ID })
}
