// SPDX-License-Identifier: Apache-2.0

package api

import (
	"time"

	"github.com/pnagent/pnagent/petri"
)

// View is everything that a sidecar shows: GET /api/v1/view.
type View struct {
	At          Time        `json:"at"`                               // when the View was made
	Age         float64     `json:"age_seconds"`                      // since then; a sidecar makes a View every second
	Generation  uint64      `json:"generation"`                       // rises with each View
	Nets        []Net       `json:"nets"`                             // by id
	Sources     []Source    `json:"sources"`                          // by net and name
	States      States      `json:"source_states"`                    // sources by state
	Traffic     Traffic     `json:"traffic"`                          // messages since the start of the sidecar
	NATS        *Connection `json:"nats,omitempty"`                   // connection to the engines' NATS server
	Up          *Connection `json:"up_nats,omitempty"`                // connection to the NATS server of a sidecar above, if that is another server
	AgentX      *Connection `json:"agentx,omitempty"`                 // session with the AgentX master; absent without --agentx
	Interrupted bool        `json:"deaf"`                             // the sources are shown as of before an interruption of the connection
	Pace        float64     `json:"interval_asked_seconds,omitempty"` // how often the sidecar asks engines to publish, because their messages make too much work; absent while it asks for nothing
}

// Connection is a connection of the sidecar to a NATS server, or its session with the AgentX
// master. While the connection to the engines is down, everything else is as of since.
type Connection struct {
	Connected   bool   `json:"connected"`
	Since       Time   `json:"since,omitzero"`   // when connected last changed
	Server      string `json:"server,omitempty"` // the last one
	Reason      string `json:"reason,omitempty"` // why it is not connected, or what the server refused
	Disconnects uint64 `json:"disconnects"`
}

// Net is a net with its places and transitions, summed over its sources.
type Net struct {
	NetTotals
	Places      []Place      `json:"places"`
	Transitions []Transition `json:"transitions"`
	Blocks      *[]Block     `json:"blocks,omitempty"` // the conditions that block transitions
	Queues      *[]Queue     `json:"queues,omitempty"` // waiting instances, by priority
}

// NetTotals are the numbers of a whole net.
type NetTotals struct {
	ID          string     `json:"id"`
	Name        string     `json:"name,omitempty"`
	Since       Time       `json:"since,omitzero"`   // when its counters began
	Digests     []Digest   `json:"digests,omitzero"` // definitions in use, the most used first
	Up          int        `json:"sources_up"`
	Stale       int        `json:"sources_stale"`
	Instances   *Instances `json:"instances,omitempty"`
	Tokens      *uint64    `json:"tokens,omitempty"`             // in all places
	OldestAge   *float64   `json:"oldest_age_seconds,omitempty"` // of the oldest token in a place that is neither final nor resting; absent if there is none
	OldestPlace string     `json:"oldest_place,omitempty"`       // id of the place that holds it
	Firings     *uint64    `json:"firings,omitempty"`            // of all transitions
	Rate        *float64   `json:"rate,omitempty"`               // firings per second over the last seconds; absent if not known
	DampedRates
	FinishedRate *float64 `json:"finished_rate,omitempty"` // finished instances per second, over the last seconds
	Waiting      *uint64  `json:"waiting,omitempty"`       // pieces of work that no worker has started
}

// DampedRates are firings per second, damped exponentially as a load average is.
type DampedRates struct {
	Rate1  *float64 `json:"rate_1m,omitempty"`  // over 1 minute
	Rate5  *float64 `json:"rate_5m,omitempty"`  // over 5 minutes
	Rate15 *float64 `json:"rate_15m,omitempty"` // over 15 minutes
}

// Digest is a definition of a net, and how many sources run it.
type Digest struct {
	Digest  string `json:"digest"`
	Sources int    `json:"sources"`
}

// Instances counts the instances of a net.
type Instances struct {
	Created    uint64 `json:"created"`
	Finished   uint64 `json:"finished"`
	Failed     uint64 `json:"failed"`
	Active     uint64 `json:"active"`     // now
	Deadlocked uint64 `json:"deadlocked"` // now: nothing is enabled or running, and the marking is not final
}

// Called is what an element of a file of BPMN is called there.
type Called struct {
	Kind string `json:"kind"` // such as user task
	Name string `json:"name"` // the id if it has none
}

// Or returns the words for what is called so, or a text for what is of no file of BPMN.
func (c *Called) Or(text string) string {
	if c == nil {
		return text
	}
	return petri.Called(*c).String()
}

// Awaits returns what a transition that is called so waits for if it fires only from outside.
func (c *Called) Awaits() string { return petri.Called(*c).Awaits() }

// Place is a place of a net.
type Place struct {
	ID     string  `json:"id"`
	Name   string  `json:"name,omitempty"`
	Called *Called `json:"called,omitempty"` // the element of a file of BPMN at which it is
	Final  bool    `json:"final"`            // no transition takes tokens from it: its tokens are finished work
	// Resting: tokens may stay, because an override turns tokenStuck off.
	Resting bool   `json:"resting,omitempty"`
	Role    string `json:"role,omitempty"` // state or data if it is not work: its tokens are not in the sums
	PlaceNow
	Arrivals      *uint64    `json:"arrivals,omitempty"`           // tokens put into it
	Departures    *uint64    `json:"departures,omitempty"`         // tokens taken from it
	DepartureRate *float64   `json:"departure_rate,omitempty"`     // per second, over the last seconds
	OldestAge     *float64   `json:"oldest_age_seconds,omitempty"` // of the oldest token; 0 if there is none
	MeanAge       *float64   `json:"mean_age_seconds,omitempty"`   // of all tokens; 0 if there is none
	LastInjection Time       `json:"last_injection,omitzero"`      // when a token was last put into it
	OlderThan     *OlderThan `json:"older_than,omitempty"`         // tokens that are older than each age
	Dwell         *Histogram `json:"dwell,omitempty"`              // how long tokens stayed, for those that left
	Slowest       *Slowest   `json:"slowest,omitempty"`
	Stuck         *[]Token   `json:"stuck,omitempty"`   // the oldest tokens; none of a final place
	Reasons       *[]Reason  `json:"reasons,omitempty"` // why the tokens wait, by reason; none of a final place
}

// Reason counts the tokens of a place that wait for one reason: that of what says best why each of them does not
// move. Tokens in none of these wait for a reason that is not known.
type Reason struct {
	Reason string `json:"reason"` // as that of a Wait
	Tokens uint64 `json:"tokens"`
	Due    Time   `json:"due"` // when the first of them was or will be due, or was put into the place
	Oldest Token  `json:"oldest"`
}

// PlaceNow are the numbers of a place that frames of the live page have too.
type PlaceNow struct {
	Tokens      *uint64  `json:"tokens,omitempty"`
	Instances   *uint64  `json:"instances,omitempty"`    // with a token here
	OldestSince Time     `json:"oldest_since,omitzero"`  // when the oldest token was put into it; absent if there is none
	ArrivalRate *float64 `json:"arrival_rate,omitempty"` // arriving tokens per second, over the last seconds
}

// OlderThan is how many tokens of a place are older than each age.
type OlderThan struct {
	S1  uint64 `json:"1s"`
	S10 uint64 `json:"10s"`
	M1  uint64 `json:"1m"`
	M10 uint64 `json:"10m"`
	H1  uint64 `json:"1h"`
	H6  uint64 `json:"6h"`
	D1  uint64 `json:"1d"`
	D7  uint64 `json:"7d"`
}

// Steps returns the counts from the least age to the greatest, as stats.AgeSteps.
func (o *OlderThan) Steps() [8]uint64 {
	return [8]uint64{o.S1, o.S10, o.M1, o.M10, o.H1, o.H6, o.D1, o.D7}
}

// Histogram describes durations, in seconds.
type Histogram struct {
	Count   uint64       `json:"count"`
	Sum     float64      `json:"sum"`
	Mean    *float64     `json:"mean,omitempty"` // absent while count is 0, as are the percentiles
	P50     *float64     `json:"p50,omitempty"`
	P95     *float64     `json:"p95,omitempty"`
	P99     *float64     `json:"p99,omitempty"`
	Buckets [][2]float64 `json:"buckets,omitempty"` // upper bound and count of each bucket that is not empty; only for one place or transition
}

// Slowest is the token that stayed longest, or the firing that took longest, in
// the last minutes.
type Slowest struct {
	Instance string  `json:"instance"`
	Seconds  float64 `json:"seconds"`
	At       Time    `json:"at"` // when it ended
}

// Token is one of the oldest tokens of a place.
type Token struct {
	Instance string  `json:"instance"` // "" if the token has no name, such as a message of which a metric has the age
	Injected Time    `json:"injected"` // when it was put into the place
	Age      float64 `json:"age_seconds"`
	Waits    []Wait  `json:"waits,omitzero"`
}

// Wait is what one output transition of a token's place waits for.
type Wait struct {
	Transition string `json:"transition"`
	Reason     string `json:"reason"`          // unknown, enabled, running, delayed, guarded, missing, inhibited, manual, dead, incident or noWorker
	Place      string `json:"place,omitempty"` // the place with too few or too many tokens
	Count      uint32 `json:"count,omitempty"` // how many tokens are missing or too many
	Until      Time   `json:"until,omitzero"`  // when a delay ends
	What       string `json:"what,omitempty"`  // what the source reports beyond the reason, for people, such as "job, out of retries"
	Text       string `json:"text,omitempty"`  // the reason for people, with what; only for one place or instance
}

// Transition is a transition of a net.
type Transition struct {
	ID     string  `json:"id"`
	Name   string  `json:"name,omitempty"`
	Called *Called `json:"called,omitempty"` // as of a Place
	Role   string  `json:"role,omitempty"`   // state if it is not work but a step on the way
	TransitionNow
	DampedRates
	Firings    *uint64    `json:"firings,omitempty"`
	Retries    *uint64    `json:"retries,omitempty"`
	Cancels    *uint64    `json:"cancels,omitempty"`             // firings that were cancelled
	Timeouts   *uint64    `json:"timeouts,omitempty"`            // cancelled firings that timed out
	Late       *uint64    `json:"late_answers,omitempty"`        // answers after the end of their firing
	EnabledAge *float64   `json:"enabled_age_seconds,omitempty"` // in the instance where it waits longest; 0 if it is enabled nowhere
	RunningAge *float64   `json:"running_age_seconds,omitempty"` // of the longest running firing; 0 if there is none
	LastFiring Time       `json:"last_firing,omitzero"`
	Duration   *Histogram `json:"duration,omitempty"` // of its firings
	Slowest    *Slowest   `json:"slowest,omitempty"`
	NextDue    Time       `json:"next_due,omitzero"` // when it is to fire next, by a schedule; one that is past has not fired
}

// Counters returns where the counters are, in the order of stats.TransitionTable.
func (t *Transition) Counters() []**uint64 {
	return []**uint64{&t.Firings, &t.Failures, &t.Retries, &t.Cancels, &t.Timeouts, &t.Late}
}

// TransitionNow are the numbers of a transition that frames of the live page have too.
type TransitionNow struct {
	Rate         *float64 `json:"rate,omitempty"`         // firings per second over the last seconds; absent if not known
	Enabled      *uint64  `json:"enabled,omitempty"`      // instances in which it could fire now
	EnabledSince Time     `json:"enabled_since,omitzero"` // in the instance where it waits longest; absent if it is enabled nowhere
	Running      *uint64  `json:"running,omitempty"`      // running firings
	Blocked      *uint64  `json:"blocked,omitempty"`      // instances blocked by the condition that blocks most of them
	Failures     *uint64  `json:"failures,omitempty"`
}

// Block counts the instances in which one condition blocks a transition.
type Block struct {
	Transition string `json:"transition"`
	Place      string `json:"place,omitempty"` // absent if no single place is the cause
	Reason     string `json:"reason"`          // as in Wait
	Instances  uint64 `json:"instances"`
	Text       string `json:"text,omitempty"` // the reason for people; only for one transition
}

// Queue is the state of one priority of a dispatcher.
type Queue struct {
	Priority      uint8   `json:"priority"`
	Ready         uint64  `json:"ready"`                // ready instances
	OldestAge     float64 `json:"oldest_age_seconds"`   // of the longest waiting one
	UnservedAge   float64 `json:"unserved_age_seconds"` // since the last service of the priority, while an instance is ready
	Served        uint64  `json:"served"`
	QuoteSwitches uint64  `json:"quote_switches"` // turns that ended because the quote was used up
}

// UnknownState is the state of a source that was up before an interruption, while that lasts.
const UnknownState = "unknown"

// SourceState is the state of one source of one net.
type SourceState struct {
	Name           string   `json:"name"`
	Net            string   `json:"net"`
	State          string   `json:"state,omitempty"`                  // up, stale, gone, undefined or refused; unknown for one that was up before the interruption that deaf reports
	Reason         string   `json:"reason,omitempty"`                 // why it is refused
	LastMessageAge *float64 `json:"last_heard_age_seconds,omitempty"` // age of its last message; the name stays, since clients read it
	Gaps           uint64   `json:"gaps"`                             // lost snapshots
	Region         string   `json:"region,omitempty"`                 // the region that it owns
	Fence          uint64   `json:"fence,omitempty"`                  // its number as the region's owner
	Position       *uint64  `json:"position,omitempty"`               // commits in the region's log
	Standbys       *uint64  `json:"standbys,omitempty"`               // standby processes that follow the log
	Lag            *uint64  `json:"lag,omitempty"`                    // commits by which the nearest standby lags
	RegionStopped  string   `json:"region_stopped,omitempty"`         // why the region is stopped
	Below          bool     `json:"below,omitempty"`                  // it is a sidecar below this one, which adds up other sources

	RefusedRequests *RefusedRequests `json:"refused_requests,omitempty"` // since the sidecar first received it; absent if it takes no requests, and in an overview also if it refused none
}

// Source is one source of one net, with all its figures.
type Source struct {
	SourceState
	Digest      string  `json:"digest"`         // of the definition that it runs
	Since       Time    `json:"since,omitzero"` // when the region's counters began
	Conflict    bool    `json:"conflict,omitempty"`
	Epoch       int64   `json:"epoch"`            // start of its process, microseconds since the Unix epoch by its clock
	Seq         uint64  `json:"seq"`              // of its last snapshot
	LastMessage Time    `json:"last_heard"`       // when its last message came
	Interval    float64 `json:"interval_seconds"` // between snapshots, as the source announced
	Skew        float64 `json:"skew_seconds"`     // how far its clock is ahead of the sidecar's
	SkewBeyond  bool    `json:"skew_beyond"`      // the skew is more than a minute
	Duplicates  uint64  `json:"duplicates"`       // repeated or late snapshots
	Restarts    uint64  `json:"restarts"`
	Setbacks    uint64  `json:"setbacks"` // times that its region's log lost something
}

// RefusedRequests are the requests that a source refused because they exceed a bound.
type RefusedRequests struct {
	Tokens uint64 `json:"tokens"` // too many tokens in the request
	Place  uint64 `json:"place"`  // the place would hold too many tokens
	Queue  uint64 `json:"queue"`  // too many requests waited
	Size   uint64 `json:"size"`   // too many bytes in the request
}

// States counts sources by state.
type States struct {
	Up        int `json:"up"`
	Stale     int `json:"stale"`
	Gone      int `json:"gone"`
	Undefined int `json:"undefined"`
	Refused   int `json:"refused"`
}

// Traffic is what the sidecar received since its start.
type Traffic struct {
	Messages    uint64            `json:"messages"`
	MessageRate *float64          `json:"message_rate,omitempty"` // per second, over the last seconds
	Bytes       uint64            `json:"bytes"`
	Lost        uint64            `json:"lost"`           // lost messages
	Bad         uint64            `json:"rejected_total"` // messages that were rejected
	Rejected    map[string]uint64 `json:"rejected"`       // rejected messages by reason
}

// Alarms are the active alarms: GET /api/v1/alarms.
type Alarms struct {
	LastChange Time      `json:"last_change,omitzero"`     // when an alarm was last raised or cleared
	Suppressed uint64    `json:"notifications_suppressed"` // since the start of the sidecar
	Active     []Alarm   `json:"active"`                   // by index
	Silences   []Silence `json:"silences"`                 // those in effect, by their end
}

// Alarm is one active alarm. Its subject is the place, transition, source or
// region, of which at most one is set, or else the net.
type Alarm struct {
	Index      uint32   `json:"index,omitempty"`
	Alarm      string   `json:"alarm"`    // its kind
	Severity   string   `json:"severity"` // critical, major, minor or warning
	Net        string   `json:"net,omitempty"`
	Place      string   `json:"place,omitempty"`
	Transition string   `json:"transition,omitempty"`
	Source     string   `json:"source,omitempty"`
	Region     string   `json:"region,omitempty"`
	Raised     Time     `json:"raised,omitzero"`
	Since      Time     `json:"since,omitzero"`        // when its condition began
	Age        *float64 `json:"age_seconds,omitempty"` // since then
	Affected   *uint64  `json:"affected,omitempty"`
	Text       string   `json:"text,omitempty"`
	ForReason  string   `json:"for_reason,omitempty"`     // the reason that its rule selects; absent for none
	Reason     string   `json:"reason,omitempty"`         // why the oldest token that it is about does not move, as in Wait; absent if it is not known
	Instance   string   `json:"instance,omitempty"`       // that holds this token
	Why        string   `json:"why,omitempty"`            // the reason in words
	NetName    string   `json:"net_name,omitempty"`       // of the net, if it has one
	Name       string   `json:"name,omitempty"`           // of the place or transition, if it has one
	Called     *Called  `json:"called,omitempty"`         // of the place or transition, as of a Place
	After      float64  `json:"after_seconds,omitempty"`  // tokenStuck and transitionStarved: the age from which they are raised; firingMissed: how late a firing may be
	Above      float64  `json:"above,omitempty"`          // the number of deadlocked instances, share of failed runs or firings per second from which they are raised
	Window     float64  `json:"window_seconds,omitempty"` // failureRatio and transitionLoop: the period in which runs and firings are counted
	Runs       float64  `json:"runs,omitempty"`           // failureRatio: runs in the window, of which affected failed
	Rate       float64  `json:"rate,omitempty"`           // transitionLoop: firings per second in the window
	Outdated   bool     `json:"outdated,omitempty"`       // the numbers are of an earlier moment, or absent; text says what is known
	Unknown    string   `json:"unknown,omitempty"`        // why it is not known whether its condition still holds; absent if it is known
	Lost       string   `json:"lost,omitempty"`           // the source because of which it is unknown; absent if there are several, or another reason
	Follows    string   `json:"follows,omitempty"`        // the lost source without which it would not be there: its notifications are held back
	LastFired  Time     `json:"last_fired,omitzero"`      // firingMissed: when the transition fired last; since is when it was due, affected how many firings are missing

	Acknowledged  *Ack `json:"acknowledged,omitempty"`  // by whom, if it is
	SilencedUntil Time `json:"silenced_until,omitzero"` // while its notifications are held back
}

// Ack is the acknowledgement of an alarm.
type Ack struct {
	By      string `json:"by,omitempty"`
	At      Time   `json:"at,omitzero"`
	Comment string `json:"comment,omitempty"`
}

// Silence holds back the notifications of the alarms that it selects.
type Silence struct {
	ID      string `json:"id"`
	From    Time   `json:"from"`
	Until   Time   `json:"until"`
	By      string `json:"by"`
	Comment string `json:"comment,omitempty"`
	Selection
	Pending bool   `json:"pending,omitempty"` // it begins later; from and until are those of the next time
	Cron    string `json:"cron,omitempty"`    // when it begins again and again
	Zone    string `json:"zone,omitempty"`    // of cron; absent for UTC
	Ends    Time   `json:"ends,omitzero"`     // when it recurs no more
}

// ClearedAlarms are the alarms that were cleared last: GET /api/v1/alarms/cleared.
type ClearedAlarms struct {
	Cleared []ClearedAlarm `json:"cleared"` // the newest first
}

// ClearedAlarm is an alarm that is over. Its fields are those of Alarm.
type ClearedAlarm struct {
	Index      uint32 `json:"index"`
	Alarm      string `json:"alarm"`
	Severity   string `json:"severity"`
	Net        string `json:"net,omitempty"`
	Place      string `json:"place,omitempty"`
	Transition string `json:"transition,omitempty"`
	Source     string `json:"source,omitempty"`
	Region     string `json:"region,omitempty"`
	Raised     Time   `json:"raised"`
	Since      Time   `json:"since"`
	Cleared    Time   `json:"cleared"`
	Affected   uint64 `json:"affected"` // when it was last active
	Text       string `json:"text"`     // why it is over

	Acknowledged *Ack `json:"acknowledged,omitempty"`
}

// About returns the id of the alarm's subject; "" for the net.
func (a *Alarm) About() string { return a.Place + a.Transition + a.Source + a.Region }

// About returns the id of the alarm's subject; "" for the net.
func (a *ClearedAlarm) About() string { return a.Place + a.Transition + a.Source + a.Region }

// Time is a time in microseconds since the Unix epoch; RFC 3339 in UTC as JSON.
type Time int64

// Time returns the time as a time.Time.
func (t Time) Time() time.Time { return time.UnixMicro(int64(t)).UTC() }

// layout is how a time is written.
const layout = "2006-01-02T15:04:05.000000Z"

// MarshalText implements encoding.TextMarshaler.
func (t Time) MarshalText() ([]byte, error) {
	return t.appendTo(make([]byte, 0, len(layout))), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *Time) UnmarshalText(text []byte) error {
	at, err := time.Parse(time.RFC3339, string(text))
	if err != nil {
		return err
	}
	*t = Time(at.UnixMicro())
	return nil
}
