// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"strconv"
	"time"

	"github.com/pnagent/pnagent/engine/action"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/petri/yamlfile"
)

// binding is what a file specifies for a transition. The net specifies the
// rest.
type binding struct {
	key     yamlfile.Key
	mode    *plain.Mode
	due     func(since int64) int64
	guard   yamlfile.Node // empty if there is none
	action  action.Performer
	acts    yamlfile.Key // nats, http or command
	timeout time.Duration
	retry   Retry
	again   bool // idempotent
	broken  bool // it has a fault
}

const bindingForms = "immediate, manual, or a mapping with some of delay, rate, at, guard, nats, http, command, idempotent, timeout and retry"

// bindingOf reads the binding of one transition.
func bindingOf(key yamlfile.Key, n yamlfile.Node) (b binding, err error) {
	b.key = key
	defer func() { b.broken = err != nil }()
	switch s, ok := n.Scalar(); {
	case s == "immediate":
		b.mode = &plain.Mode{}
		return b, nil
	case s == "manual":
		b.mode = &plain.Mode{Kind: plain.Manual}
		return b, nil
	case ok:
		return b, n.Expected(bindingForms)
	}
	entries := 0
	err = n.Each(bindingForms, func(key yamlfile.Key, value yamlfile.Node) error {
		entries++
		return b.entry(key, value)
	})
	if err == nil && entries == 0 {
		err = n.Expected(bindingForms)
	}
	b.limitAction()
	return b, err
}

// entry reads one key of a transition.
func (b *binding) entry(key yamlfile.Key, value yamlfile.Node) (err error) {
	switch key.Name {
	case "delay", "rate", "at", "manual", "immediate":
		return b.readMode(key, value)
	case "nats", "http", "command":
		return b.readAction(key, value)
	case "guard":
		if s, ok := value.Scalar(); !ok || s == "" {
			return value.Expected("an expression such as amount < 100")
		}
		b.guard = value
	case "idempotent":
		if s, _ := value.Scalar(); s != "true" {
			return value.Expected("true")
		}
		b.again = true
	case "timeout":
		b.timeout, err = limitOf(value)
	case "retry":
		b.retry, err = retryOf(value)
	default:
		err = key.Fault("unknown key %q; expected delay, rate, at, manual, immediate, guard, nats, http, command, idempotent, timeout or retry", key.Name)
	}
	return err
}

// readMode reads when the transition fires.
func (b *binding) readMode(key yamlfile.Key, value yamlfile.Node) (err error) {
	if b.mode != nil {
		return key.Fault("a second key %q for when it fires; expected one of delay, rate, at, manual and immediate", key.Name)
	}
	b.mode = &plain.Mode{Kind: plain.Delayed}
	text, _ := value.Scalar()
	switch key.Name {
	case "delay":
		b.mode.Delay, err = delayOf(value)
		return err
	case "rate":
		b.mode.Delay, err = rateOf(value)
		return err
	case "at":
		if b.due, err = action.At(text); err != nil {
			err = value.Fault("%v", err)
		}
		return err
	case "manual":
		b.mode.Kind = plain.Manual
	case "immediate":
		b.mode.Kind = plain.Immediate
	}
	if text != "true" {
		return value.Expected("true")
	}
	return nil
}

// retryOf reads a retry.
func retryOf(n yamlfile.Node) (r Retry, err error) {
	err = n.Fields("a mapping with some of first, max, factor and attempts", "first, max, factor or attempts", map[string]func(yamlfile.Node) error{
		"first":    yamlfile.Into(&r.First, limitOf),
		"max":      yamlfile.Into(&r.Max, limitOf),
		"attempts": yamlfile.Into(&r.Attempts, countOf),
		"factor": func(value yamlfile.Node) (err error) {
			s, _ := value.Scalar()
			if r.Factor, err = strconv.ParseFloat(s, 64); err != nil || !(r.Factor >= 1 && r.Factor <= 1e6) {
				err = value.Expected("a number from 1 to 1000000")
			}
			return err
		},
	})
	return r, err
}

// limitOf returns a duration that is not 0.
func limitOf(n yamlfile.Node) (time.Duration, error) {
	d, err := timeOf(n)
	if err == nil && d == 0 {
		err = n.Expected("a duration above 0 such as 500ms, 2s or 1h30m")
	}
	return d, err
}

func countOf(n yamlfile.Node) (int, error) {
	s, _ := n.Scalar()
	v, err := strconv.ParseInt(s, 10, 32)
	if err != nil || v < 1 {
		return 0, n.Expected("a whole number of 1 or more")
	}
	return int(v), nil
}

// modeOr returns the mode, or that of the net if the binding names none. An
// action replaces the trigger of the net.
func (b *binding) modeOr(net plain.Mode) plain.Mode {
	switch {
	case b.mode != nil:
		return *b.mode
	case b.action != nil:
		return plain.Mode{}
	}
	return net
}
