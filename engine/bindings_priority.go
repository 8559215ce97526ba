// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/engine/ready"
	"github.com/pnagent/pnagent/petri/yamlfile"
)

// priorities are those of the instances of a net.
type priorities struct {
	most ready.Priority
	some []priorityRange // sorted, without overlap
}

type priorityRange struct {
	first, last int
	priority    ready.Priority
}

// read reads a mapping from numbers and ranges to priorities.
func (p *priorities) read(n yamlfile.Node) error {
	return n.Each("a mapping from numbers of instances such as 500 or 0-99", func(key yamlfile.Key, value yamlfile.Node) error {
		from, to, ranged := strings.Cut(key.Name, "-")
		if !ranged {
			to = from
		}
		first, err1 := strconv.ParseUint(from, 10, 31)
		last, err2 := strconv.ParseUint(to, 10, 31)
		if err1 != nil || err2 != nil || first > last {
			return key.Expected("the number of an instance such as 500, or a range such as 0-99")
		}
		r := priorityRange{first: int(first), last: int(last)}
		var err error
		if r.priority, err = priorityOf(value); err != nil {
			return err
		}
		i, _ := slices.BinarySearchFunc(p.some, r.first, func(r priorityRange, first int) int { return cmp.Compare(r.first, first) })
		if i > 0 && p.some[i-1].last >= r.first || i < len(p.some) && p.some[i].first <= r.last {
			return key.Fault("instances %s a second time; expected every number once", key.Name)
		}
		p.some = slices.Insert(p.some, i, r)
		return nil
	})
}

func priorityOf(n yamlfile.Node) (ready.Priority, error) {
	s, _ := n.Scalar()
	v, err := strconv.ParseUint(s, 10, 8)
	if err != nil || v > uint64(ready.Highest) {
		return 0, n.Expected("a priority from 0, the lowest, to 7")
	}
	return ready.Priority(v), nil
}

// of returns the priority of an instance.
func (p *priorities) of(instance int) ready.Priority {
	i, found := slices.BinarySearchFunc(p.some, instance, func(r priorityRange, i int) int { return cmp.Compare(r.first, i) })
	if !found {
		i--
	}
	if i >= 0 && instance <= p.some[i].last {
		return p.some[i].priority
	}
	return p.most
}

// function returns of, or nil if all have p0.
func (p *priorities) function() func(instance int) ready.Priority {
	if p.most == 0 && len(p.some) == 0 {
		return nil
	}
	return p.of
}
