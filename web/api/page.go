// SPDX-License-Identifier: Apache-2.0

package api

import "encoding/json"

// Overview is all nets without their rows: GET /api/v1/overview, and the event
// of that name of GET /api/v1/live. Ages are as of at. With the parameter at, it is of a
// moment of the past: nets, sources, alarms, silences and connections are those of then, as
// far as they are known, and actions and acts are false.
type Overview struct {
	At              Time          `json:"at"`
	Generation      uint64        `json:"generation"`        // of the View; 0 for a moment of the past
	Archive         bool          `json:"archive,omitempty"` // it is from Prometheus
	History         *Kept         `json:"history,omitempty"` // what is kept of the last hour
	Nets            []NetOverview `json:"nets"`
	Sources         []SourceState `json:"sources"`  // at most 1,000; those that are up are left out first
	Alarms          []Alarm       `json:"alarms"`   // at most 1,000
	Silences        []Silence     `json:"silences"` // at most 100
	NATS            *Connection   `json:"nats,omitempty"`
	Up              *Connection   `json:"up_nats,omitempty"`
	AgentX          *Connection   `json:"agentx,omitempty"` // as in a View; absent for a moment of the past
	Interrupted     bool          `json:"deaf"`
	SourcesLeftOut  int           `json:"sources_left_out,omitempty"`
	AlarmsLeftOut   int           `json:"alarms_left_out,omitempty"`
	SilencesLeftOut int           `json:"silences_left_out,omitempty"`
	Actions         bool          `json:"actions"` // whether the sidecar takes POST requests
	Links           *Links        `json:"links,omitempty"`
	Acts            bool          `json:"acts,omitempty"` // whether it takes those that act on instances

	Sidecar *Sidecar         `json:"sidecar,omitempty"` // absent if nothing is known of it
	Refused []RefusedSources `json:"refused,omitempty"` // at most 50 reasons, those of most sources first
	Skewed  *SkewedSources   `json:"skewed,omitempty"`
	Pace    float64          `json:"interval_asked_seconds,omitempty"` // as in a View
}

// Links are addresses outside of the sidecar.
type Links struct {
	Runbooks map[string]string `json:"runbooks"`          // page about each kind of alarm
	Grafana  string            `json:"grafana,omitempty"` // template of a dashboard, in which {net}, {place}, {transition}, {from} and {to} are replaced
}

// Kept is the period of the past that the sidecar keeps.
type Kept struct {
	From Time    `json:"from"`
	To   Time    `json:"to"`
	Step float64 `json:"step"` // seconds between two moments that are kept now

	Archive *Archive `json:"archive,omitempty"` // where Prometheus has older moments
}

// Archive is the period of which Prometheus has samples of the sidecar's metrics.
type Archive struct {
	From Time    `json:"from"`
	Step float64 `json:"step"` // seconds between two samples
}

// NetOverview is a net without its rows.
type NetOverview struct {
	NetTotals
	Alarms  int    `json:"alarms"`            // how many are active
	Follow  int    `json:"alarms_following"`  // of these, how many follow from a lost source
	Unknown int    `json:"alarms_unknown"`    // of the others, how many are unknown
	Drawing string `json:"drawing,omitempty"` // hash of its drawing; absent if the net is no longer there
	Kind    string `json:"kind,omitempty"`    // process if it is one of BPMN; absent for a net

	OldestCalled *Called `json:"oldest_called,omitempty"` // what oldest_place is called, as of a Place
	OldestName   string  `json:"oldest_name,omitempty"`   // its name
}

// Trends are the ages of the oldest tokens of nets over the last hour, of at most 100 nets, those
// with the oldest tokens first: GET /api/v1/trends.
type Trends struct {
	Step float64 `json:"step"` // seconds between two moments that are kept
	Nets []Trend `json:"nets"`
}

// Trend is the age of the oldest token of a net over the last hour, at most 60 points.
type Trend struct {
	Net    string       `json:"net"`
	Points [][]*float64 `json:"points"` // each a time in milliseconds since the Unix epoch and an age in seconds; null if not known
}

// Matches are what a search found in all nets, those whose name begins with the text first: GET /api/v1/search.
type Matches struct {
	Matches []Match `json:"matches"`            // at most 20
	LeftOut int     `json:"left_out,omitempty"` // how many more there are, at least
}

// Match is a place, a transition or an instance that a search found.
type Match struct {
	Kind    string  `json:"kind"` // place, transition or instance
	Net     string  `json:"net"`
	NetName string  `json:"net_name,omitempty"`
	ID      string  `json:"id"` // the name of an instance
	Name    string  `json:"name,omitempty"`
	Called  *Called `json:"called,omitempty"` // as of a Place
}

// Frame is a net at one moment: an event of GET /api/v1/live, and GET
// /api/v1/history. Rows are in the order of the drawing's nodes.
type Frame struct {
	Net         string          `json:"net"`
	Drawing     string          `json:"drawing"`    // hash of its drawing
	Generation  uint64          `json:"generation"` // of the View; 0 for a frame of the past
	At          Time            `json:"at"`
	Archive     bool            `json:"archive,omitempty"` // it is from Prometheus
	Resting     []int           `json:"resting,omitempty"` // indexes of places in which tokens may stay: an override turns tokenStuck off
	Places      []PlaceNow      `json:"places"`
	Transitions []TransitionNow `json:"transitions"`
}

// Diff has the rows of a Frame that changed since the previous Frame or Diff on
// the same stream: an event of GET /api/v1/live.
type Diff struct {
	Generation  uint64           `json:"generation"`
	At          Time             `json:"at"`
	Places      []PlaceDiff      `json:"places"`
	Transitions []TransitionDiff `json:"transitions"`
}

// PlaceDiff is a whole row of a place.
type PlaceDiff struct {
	Index int `json:"index"` // in Frame.Places
	PlaceNow
}

// TransitionDiff is a whole row of a transition.
type TransitionDiff struct {
	Index int `json:"index"` // in Frame.Transitions
	TransitionNow
}

// PlaceDetail is one place: GET /api/v1/place. With the parameter at, it has what is known of
// a moment of the past.
type PlaceDetail struct {
	Place
	At       Time     `json:"at,omitzero"`        // of the moment; absent if it is the present
	Archive  bool     `json:"archive,omitempty"`  // it is from Prometheus
	Series   Series   `json:"series"`             // time, tokens and age of the oldest
	Commands []string `json:"commands,omitempty"` // command lines that act on its oldest token
	Acts     []Act    `json:"acts,omitempty"`     // the same as requests, if its engine takes them
	Tool     string   `json:"tool,omitempty"`     // what people act on it with, if its engine takes no commands: the command lines are those of this tool
}

// TransitionDetail is one transition: GET /api/v1/transition, as PlaceDetail.
type TransitionDetail struct {
	Transition
	At      Time     `json:"at,omitzero"`       // of the moment; absent if it is the present
	Archive bool     `json:"archive,omitempty"` // it is from Prometheus
	Blocks  *[]Block `json:"blocks,omitempty"`  // the conditions that block it
	Series  Series   `json:"series"`            // time, firings per second and running firings
}

// Series is what is kept of an hour, the last one or that before a moment, at most 360 points.
type Series struct {
	Step   float64      `json:"step"`   // seconds
	Points [][]*float64 `json:"points"` // each a time in milliseconds since the Unix epoch and values; null if not known
}

// Instance is the state of one instance, and its sightings: GET /api/v1/instance.
type Instance struct {
	Instance   string     `json:"instance"`
	Now        *[]Held    `json:"now,omitempty"`        // its tokens
	Source     string     `json:"source,omitempty"`     // the source that answered
	LeftOut    uint64     `json:"left_out,omitempty"`   // tokens that the answer omits
	Unanswered string     `json:"unanswered,omitempty"` // why now is absent
	Seen       []Sighting `json:"seen"`                 // when it was among the oldest tokens of a place in the last hour
	Commands   []string   `json:"commands,omitempty"`   // command lines that act on it
	Acts       []Act      `json:"acts,omitempty"`       // the same as requests, if its engine takes them
	Tool       string     `json:"tool,omitempty"`       // what people act on it with, if its engine takes no commands: the command lines are those of this tool
	Actions    []Action   `json:"actions,omitempty"`    // what people did to it, the newest first
}

// Stuck are tokens that wait in places, the oldest first: GET /api/v1/stuck.
type Stuck struct {
	Tokens     []StuckToken `json:"tokens"`
	Next       string       `json:"next,omitempty"`       // for after=, if there are more
	Matches    uint64       `json:"matches"`              // how many tokens there are in all, on all pages
	Bounded    bool         `json:"bounded,omitempty"`    // there may be more: a source does not report how many it has
	LeftOut    int          `json:"left_out,omitempty"`   // sources and places that were not asked, because they are too many
	Unanswered []string     `json:"unanswered,omitempty"` // sources that did not answer
}

// StuckToken is one token, or several of one instance that were put into a place at one time.
type StuckToken struct {
	Token
	Place  string `json:"place"`
	Source string `json:"source,omitempty"` // absent if the token is known from a snapshot only
	Tokens uint64 `json:"tokens"`
	Data   Data   `json:"data,omitempty"` // of the tokens, as far as their engine shows it
}

// Data is what an engine shows of the data of a token: a JSON object.
type Data = json.RawMessage

// Actions are the last requests of people to engines: GET /api/v1/actions.
type Actions struct {
	Actions []Action `json:"actions"` // the newest first, at most 1,000
}

// Action is a request to an engine and its result, as in the engine's audit log.
type Action struct {
	At         Time   `json:"at"` // by the engine's clock
	Source     string `json:"source"`
	Kind       string `json:"kind"`              // inject, fire or message
	By         string `json:"by,omitempty"`      // its author, as the request claims
	Comment    string `json:"comment,omitempty"` // why
	Net        string `json:"net"`
	Instance   string `json:"instance,omitempty"`
	Place      string `json:"place,omitempty"`
	Transition string `json:"transition,omitempty"`
	Tokens     uint64 `json:"tokens,omitempty"` // that were to be injected
	Event      string `json:"event,omitempty"`  // name of the message
	OK         bool   `json:"ok"`               // it was done
	Error      string `json:"error,omitempty"`  // why not
}

// Held are tokens of one place with one injection time.
type Held struct {
	Place    string  `json:"place"`
	Tokens   uint64  `json:"tokens"`
	Injected Time    `json:"injected"`
	Age      float64 `json:"age_seconds"`
	Waits    []Wait  `json:"waits"`
	Data     Data    `json:"data,omitempty"` // of the tokens, as far as their engine shows it
}

// Sighting is a period of an instance among the oldest tokens of a place.
type Sighting struct {
	Place     string `json:"place"`
	Injected  Time   `json:"injected"`
	FirstSeen Time   `json:"first_seen"`
	LastSeen  Time   `json:"last_seen"`
	Gone      bool   `json:"gone"` // it is no longer among them
	Waits     []Wait `json:"waits"`
}

// Drawing is the layout of the nodes and arcs of a net: GET /api/v1/drawing.
type Drawing struct {
	Net       string      `json:"net"`
	Name      string      `json:"name"`
	Doc       string      `json:"doc"`
	Hash      string      `json:"hash"` // also the ETag
	Width     float64     `json:"width"`
	Height    float64     `json:"height"`
	Positions string      `json:"positions"` // given by the definition, or layered
	Nodes     []DrawnNode `json:"nodes"`     // places, then transitions
	Arcs      []DrawnArc  `json:"arcs"`
	Model     *DrawnModel `json:"model,omitempty"` // the file that the net was made from
}

// DrawnModel is the files that a net was made from, as their authors drew them, and where
// the net's state is in them.
type DrawnModel struct {
	Kind     string         `json:"kind"`              // bpmn
	Digest   string         `json:"digest,omitempty"`  // of the files, and the ETag of GET /api/v1/model; absent without a file
	Files    int            `json:"files,omitempty"`   // how many there are: more than one if it calls processes of others
	File     int            `json:"file,omitempty"`    // which one has the net's process, from 0
	Missing  string         `json:"missing,omitempty"` // why there is no file, for people
	Elements []DrawnElement `json:"elements"`
}

// DrawnElement is the part of the net of one element of a model. All numbers are indices
// in Frame.Places or Frame.Transitions.
type DrawnElement struct {
	ID          string   `json:"id"`              // of the element in the file
	Calls       []string `json:"calls,omitempty"` // the call activities around it, outermost first, if it is of a called process
	Places      []int    `json:"places"`
	Transitions []int    `json:"transitions"`
	Tokens      []int    `json:"tokens"` // the places whose tokens are at the element
	Fires       []int    `json:"fires"`  // the transitions of which a firing is one time that the element occurred
}

// DrawnNode is a place or a transition.
type DrawnNode struct {
	ID      string  `json:"id"`
	Kind    string  `json:"kind"` // place or transition
	Name    string  `json:"name"`
	Called  *Called `json:"called,omitempty"` // as of a Place
	Doc     string  `json:"doc"`
	Label   string  `json:"label"` // lines divided by newlines
	X       float64 `json:"x"`     // of its centre
	Y       float64 `json:"y"`
	W       float64 `json:"w"`
	H       float64 `json:"h"`
	Initial uint32  `json:"initial,omitempty"` // tokens of the initial marking
	Final   bool    `json:"final,omitempty"`   // no transition takes tokens from the place
	Role    string  `json:"role,omitempty"`    // state or data if it is not work: its tokens and firings are counted nowhere
}

// DrawnArc is an arc between two nodes.
type DrawnArc struct {
	From   int          `json:"from"` // index of a node
	To     int          `json:"to"`
	Kind   string       `json:"kind"` // normal, inhibitor, read, reset, join or branch
	Weight uint32       `json:"weight"`
	Points [][2]float64 `json:"points"`
}

// Error is the answer to a request that failed.
type Error struct {
	Error string `json:"error"` // what was wrong, for people
}
