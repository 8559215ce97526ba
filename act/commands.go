// SPDX-License-Identifier: Apache-2.0

package act

import (
	"slices"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// maxCommands is how many command lines a page shows for one instance.
const maxCommands = 20

// Commands returns the command lines that act on what the tokens of an instance wait for,
// the oldest tokens first: fire for a transition that fires only from outside, and retry
// for an incident. An instance that can continue in no such way, nor by itself, has inject
// for the tokens that are missing; elsewhere these may still come. place limits the lines
// to the tokens of one place; "" is all. For an instance whose source takes no requests, they
// are those of the engine's own tool that the source knows.
func Commands(net string, of *telemetry.Instance, place string) []string {
	if of.Acts == "" {
		return foreign(of, place)
	}
	var lines []string
	for _, r := range Requests(net, of, place) {
		lines = append(lines, Line(r.Verb, r.Net, r.Instance, r.Element, r.Tokens))
	}
	return lines
}

// foreign returns the command lines of the engine's own tool.
func foreign(of *telemetry.Instance, place string) []string {
	var lines []string
	for _, t := range of.Tokens {
		for _, w := range t.Waits {
			if w.Command != "" && (place == "" || t.Place == place) && !slices.Contains(lines, w.Command) && len(lines) < maxCommands {
				lines = append(lines, w.Command)
			}
		}
	}
	return lines
}

// Requests returns the requests of Commands; none if the source takes no requests.
func Requests(net string, of *telemetry.Instance, place string) []Request {
	var requests []Request
	if of.Acts == "" {
		return nil
	}
	ends := !continues(of)
	for _, t := range of.Tokens {
		if place != "" && t.Place != place {
			continue
		}
		for _, w := range t.Waits {
			r, helps := request(w, ends)
			helps = helps && takesVerb(of, r.Verb)
			same := func(o Request) bool { return o.Verb == r.Verb && o.Element == r.Element && o.Tokens == r.Tokens }
			if helps && !slices.ContainsFunc(requests, same) && len(requests) < maxCommands {
				r.Net, r.Instance = net, of.Instance
				requests = append(requests, r)
			}
		}
	}
	return requests
}

// takesVerb reports whether the source of an instance takes requests of a verb.
func takesVerb(of *telemetry.Instance, v Verb) bool {
	return len(of.Verbs) == 0 || slices.Contains(of.Verbs, string(v))
}

// continues reports whether an instance has a transition that fires by itself or by a
// request, as far as its source reports it.
func continues(of *telemetry.Instance) bool {
	stays := []stats.Reason{stats.ReasonMissing, stats.ReasonInhibited, stats.ReasonGuarded, stats.ReasonDead}
	return of.LeftOut > 0 || slices.ContainsFunc(of.Tokens, func(t telemetry.InstanceToken) bool {
		return slices.ContainsFunc(t.Waits, func(w telemetry.InstanceWait) bool { return !slices.Contains(stays, stats.ReasonNamed(w.Reason)) })
	})
}

// request returns the request for one wait, and whether one helps. ends says that the
// instance does not continue otherwise.
func request(w telemetry.InstanceWait, ends bool) (r Request, helps bool) {
	switch reason := stats.ReasonNamed(w.Reason); {
	case reason == stats.ReasonManual:
		return Request{Verb: Fire, Element: w.Transition}, true
	case reason == stats.ReasonIncident:
		return Request{Verb: Retry, Element: w.Transition}, true
	case reason == stats.ReasonMissing && w.Place != "" && ends:
		return Request{Verb: Inject, Element: w.Place, Tokens: max(uint64(w.Count), 1)}, true
	}
	return Request{}, false
}
