// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/petri/yamlfile"
)

// simulated is what a file specifies for Simulation.
type simulated struct {
	arrivals    *plain.Delay
	pools       []simulatedPool
	transitions []simulatedTransition
}

type simulatedPool struct {
	key  yamlfile.Key
	size int
}

type simulatedTransition struct {
	key    yamlfile.Key
	delay  *plain.Delay
	pool   yamlfile.Node // its name; empty if there is none
	weight float64
}

const maxWeight = 1e9

func (s *simulated) read(n yamlfile.Node) error {
	return n.Fields("a mapping with some of arrivals, pools and transitions", "arrivals, pools or transitions", map[string]func(yamlfile.Node) error{
		"arrivals": func(value yamlfile.Node) error {
			d, err := arrivalsOf(value)
			s.arrivals = &d
			return err
		},
		"pools": func(value yamlfile.Node) error {
			return value.Each("a mapping from names of pools", func(key yamlfile.Key, value yamlfile.Node) error {
				size, err := countOf(value)
				s.pools = append(s.pools, simulatedPool{key, size})
				return err
			})
		},
		"transitions": func(value yamlfile.Node) error {
			return value.Each("a mapping from transition ids", s.transition)
		},
	})
}

// arrivalsOf returns the time between two cases: of a rate such as 5/h, or a delay above 0.
func arrivalsOf(n yamlfile.Node) (plain.Delay, error) {
	if text, ok := n.Scalar(); ok && strings.Contains(text, "/") {
		return rateOf(n)
	}
	d, err := delayOf(n)
	if err == nil && d.A+d.B == 0 {
		err = n.Expected("a rate such as 5/h, or a time above 0 between two arrivals")
	}
	return d, err
}

func (s *simulated) transition(key yamlfile.Key, n yamlfile.Node) error {
	t := simulatedTransition{key: key}
	err := n.Fields("a mapping with some of delay, pool and weight", "delay, pool or weight", map[string]func(yamlfile.Node) error{
		"delay": func(value yamlfile.Node) error {
			d, err := delayOf(value)
			t.delay = &d
			return err
		},
		"pool": func(value yamlfile.Node) error {
			name, _ := value.Scalar()
			if name == "" {
				return value.Expected("the name of a pool")
			}
			t.pool = value
			return nil
		},
		"weight": func(value yamlfile.Node) (err error) {
			text, _ := value.Scalar()
			t.weight, err = strconv.ParseFloat(text, 64)
			if err != nil || !(t.weight > 0 && t.weight <= maxWeight) {
				return value.Expected("a number above 0, at most 1000000000")
			}
			return nil
		},
	})
	s.transitions = append(s.transitions, t)
	return err
}

// poolOf returns the index of the pool of a transition.
func (s *simulated) poolOf(t *simulatedTransition) (int, error) {
	name, _ := t.pool.Scalar()
	i := slices.IndexFunc(s.pools, func(p simulatedPool) bool { return p.key.Name == name })
	if i < 0 {
		names := make([]string, len(s.pools))
		for k, p := range s.pools {
			names[k] = p.key.Name
		}
		return 0, t.pool.Fault("unknown pool %q; expected one of %q", name, names)
	}
	return i, nil
}
