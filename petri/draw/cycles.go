// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"slices"

	"github.com/pnagent/pnagent/petri"
)

// breakCycles reverses arcs that close a cycle, and assigns columns. It tries two
// ways. A walk depth first keeps most arcs as they are, which suits processes with a
// beginning and an end, but makes one long line of a densely connected net. For such
// a net it is better to reverse the arcs that lead back towards the tokens. The
// second way is used if it makes arcs less than half as long.
func (l *layout) breakCycles() {
	deep, finished := l.closing()
	l.turn(deep)
	l.assignColumns()
	long := l.length()
	if long < 4*len(l.edges) {
		return
	}
	columns := l.column
	l.turn(deep)
	broad := l.leadingBack(finished)
	l.turn(broad)
	l.column = make([]int, len(l.nodes))
	l.assignColumns()
	if l.length() < long/2 {
		return
	}
	l.turn(broad)
	l.turn(deep)
	l.column = columns
}

// turn reverses edges.
func (l *layout) turn(edges []int) {
	for _, e := range edges {
		g := &l.edges[e]
		g.from, g.to, g.turned = g.to, g.from, !g.turned
	}
}

// length returns the sum of the lengths of the edges, in columns.
func (l *layout) length() (sum int) {
	for e := range l.edges {
		sum += l.column[l.edges[e].to] - l.column[l.edges[e].from]
	}
	return sum
}

// closing returns the edges that close a cycle on a walk from the starts, depth
// first: those to a vertex on the current path. The walk prefers edges that move
// tokens to those that only test, so that tokens move to the right. closing also
// returns the vertices in the order in which the walk left them.
func (l *layout) closing() (edges, finished []int) {
	out := l.edgesFrom()
	for v := range out {
		slices.SortStableFunc(out[v], func(a, b int) int { return l.tests(a) - l.tests(b) })
	}
	const onWay, done = 1, 2
	state := make([]uint8, len(l.nodes))
	next := make([]int, len(l.nodes)) // by vertex: the number of walked edges
	starts, _ := l.starts()
	for _, start := range starts {
		if state[start] != 0 {
			continue
		}
		way := []int{start}
		state[start] = onWay
		for len(way) > 0 {
			v := way[len(way)-1]
			if next[v] == len(out[v]) {
				state[v] = done
				finished = append(finished, v)
				way = way[:len(way)-1]
				continue
			}
			e := out[v][next[v]]
			next[v]++
			switch to := l.edges[e].to; state[to] {
			case onWay:
				edges = append(edges, e)
			case 0:
				state[to] = onWay
				way = append(way, to)
			}
		}
	}
	return edges, finished
}

// leadingBack returns the edges of cycles that lead towards the starts: a walk
// breadth first from all starts visits their target before their source.
func (l *layout) leadingBack(finished []int) (edges []int) {
	out := l.edgesFrom()
	met := make([]int, len(l.nodes)) // by vertex: the order of the visits, from 1
	count := 0
	var queue []int
	meet := func(v int) {
		if met[v] == 0 {
			count++
			met[v] = count
			queue = append(queue, v)
		}
	}
	starts, first := l.starts()
	for k, v := range starts {
		meet(v)
		if k < first-1 {
			continue
		}
		for ; len(queue) > 0; queue = queue[1:] {
			for _, e := range out[queue[0]] {
				meet(l.edges[e].to)
			}
		}
	}
	cycle := l.cycles(finished)
	for e := range l.edges {
		if g := &l.edges[e]; cycle[g.from] == cycle[g.to] && met[g.from] > met[g.to] {
			edges = append(edges, e)
		}
	}
	return edges
}

// cycles returns a number for each vertex, the same for two if each leads to the
// other: the strongly connected components, after Kosaraju and Sharir.
func (l *layout) cycles(finished []int) []int {
	in := make([][]int, len(l.nodes))
	for _, g := range l.edges {
		in[g.to] = append(in[g.to], g.from)
	}
	number := make([]int, len(l.nodes))
	for _, root := range slices.Backward(finished) {
		for stack := []int{root}; len(stack) > 0; {
			v := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if number[v] == 0 {
				number[v] = root + 1
				stack = append(stack, in[v]...)
			}
		}
	}
	return number
}

// tests returns 1 for an arc that moves no token, otherwise 0.
func (l *layout) tests(e int) int {
	if k := l.d.Arcs[l.edges[e].arc].Kind; k == petri.Inhibitor || k == petri.Read {
		return 1
	}
	return 0
}

// starts returns the vertices in the order in which walks begin: those without
// incoming edges, then places with tokens, then the others. It also returns how many
// of them are starts of the net: the first of these classes that is not empty, or
// one vertex.
func (l *layout) starts() (order []int, first int) {
	led := make([]bool, len(l.nodes))
	for e := range l.edges {
		led[l.edges[e].to] = true
	}
	classes := make([][]int, 3)
	for v := range l.nodes {
		class := 2
		switch {
		case !led[v]:
			class = 0
		case l.tokens[v]:
			class = 1
		}
		classes[class] = append(classes[class], v)
	}
	first = max(1, len(classes[0]))
	if len(classes[0]) == 0 {
		first = max(1, len(classes[1]))
	}
	return slices.Concat(classes...), first
}
