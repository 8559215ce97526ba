// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/internal/duration"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/yamlfile"
)

// Bindings specify how the transitions of nets fire, by the ids of net and
// transition. A transition that is not named is immediate.
type Bindings struct {
	nets map[string]netBindings
}

type netBindings struct {
	key         yamlfile.Key
	transitions map[string]binding
	priorities  priorities
	bound       int
	regions     regions
	coerced     bool
	simulate    simulated
}

// ReadBindings reads bindings from YAML:
//
//	nets:
//	  order-fulfilment:
//	    transitions:
//	      check:  immediate
//	      pay:    {delay: {exponential: 2s}}    # mean
//	      pack:   {delay: {uniform: [1s, 5s]}}
//	      ship:   {delay: {normal: [4s, 500ms]}}  # mean, standard deviation
//	      bill:   {delay: 100ms}
//	      arrive: {rate: 5/s}                   # 5 per second on average, also /m and /h
//	      cancel: manual                        # only from outside
//	      night:  {at: "02:00 Europe/Berlin"}   # every day; the default zone is that of the machine
//	      choose: {guard: "amount < 100"}       # see package guard
//	      book:   {nats: {subject: book.order, timeout: 5s}, timeout: 10s,
//	               retry: {first: 1s, max: 1m, factor: 2, attempts: 5}}
//	      ring:   {nats: {subject: bell}, idempotent: true}
//	      call:   {http: {url: "https://example.org/pay", method: POST, headers: {Authorization: {env: PAY_TOKEN}}}}
//	      run:    {command: [/usr/local/bin/label, --fast], delay: 2s}
//	      sign:   {manual: true, guard: "signed", command: {args: [sign], dir: /srv, timeout: 1m}}
//	    priority: 3                             # of the instances, 0 to 7, for a dispatcher
//	    instances: {0-99: 7, 500: 5}            # that of some, by number
//	    bound: 1000                             # pieces of work that may wait in an instance
//	    conditions: coerced                     # of UEL: a text "true" is true, not an error
//	    regions: {shop: [arrive, pay], stock: [pack, ship]}  # see Bindings.Split
//	    merge: [[shop, stock]]                  # regions that are one
//	    simulate:                               # for Simulation only; an engine ignores it
//	      arrivals: 12/h                        # cases that begin; or a delay, the time between two
//	      pools: {clerks: 3}                    # people, or machines
//	      transitions:
//	        sign:   {delay: {exponential: 10m}, pool: clerks}
//	        choose: {weight: 4}                 # chosen 4 times as often as one without a weight
//
// A transition has at most one of immediate, manual, delay, rate and at, at
// most one of nats, http and command (see package action), and any of guard,
// timeout, retry and idempotent.
//
// idempotent declares that an action does nothing more when it is performed
// again with the same key. It matters if a net is played in parts: an owner
// that dies leaves started actions, and it is unknown whether they were done.
// The next owner performs idempotent ones again, for the same tokens and with
// the same key, NET/PART/SINCE/EPOCH/RUN, where EPOCH is the one in which they
// started. They begin once the log is sure to record them. Others are put back,
// which counts as cancelled, and start again with another key. So the marking
// changes exactly once, and an action takes place at least once.
//
// The error joins all faults of the file, each of the form file:line:column:
// what was found; what was expected. If the file is YAML, there are bindings beside the
// error: Bind reports what else is wrong with them.
func ReadBindings(r io.Reader, file string) (*Bindings, error) {
	root, err := yamlfile.Read(r, file)
	if err != nil {
		return nil, err
	}
	b := &Bindings{nets: map[string]netBindings{}}
	if root.IsEmpty() {
		return b, nil
	}
	err = root.Fields("a mapping with the key nets", "nets", map[string]func(yamlfile.Node) error{
		"nets": func(value yamlfile.Node) error { return value.Each("a mapping from net ids", b.net) },
	})
	return b, err
}

// Unused returns a fault for each net of the bindings that is not among the
// given ones.
func (b *Bindings) Unused(nets []*petri.Net) []error {
	ids := make([]string, len(nets))
	for i, n := range nets {
		ids[i] = n.ID
	}
	var faults []error
	for id, n := range b.nets {
		if !slices.Contains(ids, id) {
			faults = append(faults, n.key.Fault("bindings for net %q; expected one of %q", id, ids))
		}
	}
	slices.SortFunc(faults, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return faults
}

func (b *Bindings) net(net yamlfile.Key, value yamlfile.Node) error {
	n := netBindings{key: net, transitions: map[string]binding{}}
	err := value.Fields("a mapping with the key transitions", "transitions, priority, instances, bound, conditions, regions, merge or simulate", map[string]func(yamlfile.Node) error{
		"transitions": func(value yamlfile.Node) error {
			return value.Each("a mapping from transition ids", func(key yamlfile.Key, value yamlfile.Node) (err error) {
				n.transitions[key.Name], err = bindingOf(key, value)
				return err
			})
		},
		"priority":  yamlfile.Into(&n.priorities.most, priorityOf),
		"instances": n.priorities.read,
		"bound":     yamlfile.Into(&n.bound, countOf),
		"conditions": func(value yamlfile.Node) error {
			s, _ := value.Scalar()
			n.coerced = s == "coerced"
			if !n.coerced && s != "strict" {
				return value.Expected("strict or coerced")
			}
			return nil
		},
		"regions":  n.regions.read,
		"merge":    n.regions.readMerge,
		"simulate": n.simulate.read,
	})
	b.nets[net.Name] = n
	return err
}

// single calls do for the one entry of a mapping.
func single(n yamlfile.Node, expected string, do func(yamlfile.Key, yamlfile.Node) error) error {
	entries := 0
	err := n.Each(expected, func(key yamlfile.Key, value yamlfile.Node) error {
		if entries++; entries > 1 {
			return key.Fault("a second key %q; expected one", key.Name)
		}
		return do(key, value)
	})
	if err == nil && entries == 0 {
		err = n.Expected(expected)
	}
	return err
}

const delayForms = "a duration such as 500ms, {uniform: [from, to]}, {exponential: mean} or {normal: [mean, deviation]}"

func delayOf(n yamlfile.Node) (d plain.Delay, err error) {
	if _, ok := n.Scalar(); ok {
		d.A, err = durationOf(n)
		return d, err
	}
	err = single(n, delayForms, func(key yamlfile.Key, value yamlfile.Node) (err error) {
		switch key.Name {
		case "exponential":
			d.Shape = plain.Exponential
			d.A, err = durationOf(value)
		case "uniform":
			d.Shape = plain.Uniform
			if d.A, d.B, err = pairOf(value); err == nil && d.B < d.A {
				err = value.Fault("the end is before the start; expected [from, to]")
			}
		case "normal":
			d.Shape = plain.Normal
			d.A, d.B, err = pairOf(value)
		default:
			err = key.Fault("unknown distribution %q; expected %s", key.Name, delayForms)
		}
		return err
	})
	return d, err
}

func pairOf(n yamlfile.Node) (x, y float64, err error) {
	list, ok := n.List()
	if !ok || len(list) != 2 {
		return 0, 0, n.Expected("a list of two durations")
	}
	if x, err = durationOf(list[0]); err != nil {
		return 0, 0, err
	}
	y, err = durationOf(list[1])
	return x, y, err
}

// durationOf returns microseconds.
func durationOf(n yamlfile.Node) (float64, error) {
	d, err := timeOf(n)
	return float64(d) / float64(time.Microsecond), err
}

func timeOf(n yamlfile.Node) (time.Duration, error) {
	s, _ := n.Scalar()
	d, err := duration.Parse(s)
	if err != nil || d < 0 {
		return 0, n.Expected("a duration of 0 or more such as 500ms, 2s or 1h30m")
	}
	return d, nil
}

// rateOf returns exponential delays for a rate such as 5/s.
func rateOf(n yamlfile.Node) (plain.Delay, error) {
	s, _ := n.Scalar()
	count, unit, _ := strings.Cut(s, "/")
	seconds := map[string]float64{"s": 1, "m": 60, "h": 3600}[unit]
	v, err := strconv.ParseFloat(count, 64)
	if err != nil || seconds == 0 || !(v > 0 && v <= 1e6) {
		return plain.Delay{}, n.Expected("a rate such as 5/s, 30/m or 2/h, above 0 and at most a million")
	}
	return plain.Delay{Shape: plain.Exponential, A: seconds * 1e6 / v}, nil
}
