// SPDX-License-Identifier: Apache-2.0

package api

// Sidecar is what the sidecar itself is: how engines reach it, and its place among other
// sidecars. It holds no password, token or key.
type Sidecar struct {
	Connect *Connect `json:"connect,omitempty"`
	Share   string   `json:"share,omitempty"` // the part of the sources that it takes, such as 2/8; absent if it takes all
	Above   *Above   `json:"above,omitempty"` // absent if it publishes to no other sidecar
	Duty    *Duty    `json:"duty,omitempty"`  // absent if it sends no notifications
}

// Connect is how an engine reaches the sidecar.
type Connect struct {
	Servers  string        `json:"servers"`  // of NATS, comma-separated, without user names and passwords
	Prefix   string        `json:"prefix"`   // subject space in which engines publish
	Commands []CommandLine `json:"commands"` // that connect an engine
}

// CommandLine is a command line for a shell, of which some words are to be replaced.
type CommandLine struct {
	Does string  `json:"does"` // for people
	Line string  `json:"line"`
	Fill []Blank `json:"fill"`
}

// Blank is a word of a command line that the user replaces.
type Blank struct {
	Word  string `json:"word"`
	Means string `json:"means"` // for people
}

// Above is the sidecar to which this one publishes its sums.
type Above struct {
	Prefix string `json:"prefix"` // its subject space
	Source string `json:"source"` // name of this sidecar among its sources
}

// Duty is the state of a sidecar in its group, of which one sends the notifications.
type Duty struct {
	On     bool `json:"on"`     // this one sends them
	Others int  `json:"others"` // other sidecars of the group that are running
}

// RefusedSources are the sources that are refused for one reason.
type RefusedSources struct {
	Reason  string `json:"reason"` // conflict, or a key of Traffic.rejected
	Sources int    `json:"sources"`
	Net     string `json:"net"`    // of one of them
	Source  string `json:"source"` // its name
	Text    string `json:"text"`   // why it is refused, for people
}

// SkewedSources are the sources whose clocks differ from the sidecar's by more than five seconds.
type SkewedSources struct {
	Sources int            `json:"sources"`
	Worst   []SkewedSource `json:"worst"` // at most ten, the largest difference first
}

// SkewedSource is a source with such a clock.
type SkewedSource struct {
	Net   string  `json:"net"`
	Name  string  `json:"name"`
	Ahead float64 `json:"ahead_seconds"` // how far its clock is ahead of the sidecar's; negative if it is behind
}
