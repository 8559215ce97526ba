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
// to the tokens of one place; "" is all. There are none for an instance whose source takes
// no requests.
func Commands(net string, of *telemetry.Instance, place string) []string {
	var lines []string
	if of.Acts == "" {
		return nil
	}
	ends := !continues(of)
	for _, t := range of.Tokens {
		if place != "" && t.Place != place {
			continue
		}
		for _, w := range t.Waits {
			if line := command(net, of.Instance, w, ends); line != "" && !slices.Contains(lines, line) && len(lines) < maxCommands {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// continues reports whether an instance has a transition that fires by itself or by a
// request, as far as its source reports it.
func continues(of *telemetry.Instance) bool {
	stays := []stats.Reason{stats.ReasonMissing, stats.ReasonInhibited, stats.ReasonGuarded, stats.ReasonDead}
	return of.LeftOut > 0 || slices.ContainsFunc(of.Tokens, func(t telemetry.InstanceToken) bool {
		return slices.ContainsFunc(t.Waits, func(w telemetry.InstanceWait) bool { return !slices.Contains(stays, stats.ReasonNamed(w.Reason)) })
	})
}

// command returns the command line for one wait; "" if a command does not help. ends says
// that the instance does not continue otherwise.
func command(net, instance string, w telemetry.InstanceWait, ends bool) string {
	switch reason := stats.ReasonNamed(w.Reason); {
	case reason == stats.ReasonManual:
		return Line(Fire, net, instance, w.Transition, 0)
	case reason == stats.ReasonIncident:
		return Line(Retry, net, instance, w.Transition, 0)
	case reason == stats.ReasonMissing && w.Place != "" && ends:
		return Line(Inject, net, instance, w.Place, uint64(w.Count))
	}
	return ""
}
