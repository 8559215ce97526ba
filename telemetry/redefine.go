// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"fmt"
	"sync"
)

// redefinitions are new definitions of nets that run, until the goroutine that
// publishes takes them over.
type redefinitions struct {
	mu   sync.Mutex
	nets map[int]Net
}

// Redefine gives Nets[net] another definition, for an engine that finds out
// while it runs what its net has. The definition only grows: the rows that were
// there stay where they are, so counters go on in the same epoch and nothing is
// lost or counted twice. With as many rows as before the definition stays. From the next snapshot on, which is a full one,
// Config.Rows is given zeros of the new size.
//
// Its ID, Region, Fence and Since are those of before. The error is that of Start for a
// definition, or says that the net would become smaller; the net is then
// published as before. It is called by one goroutine at a time, and not after
// Close.
func (p *Publisher) Redefine(net int, places, transitions int, pnml []byte) error {
	was := p.defined(net)
	next := was
	next.PNML, next.Places, next.Transitions = pnml, places, transitions
	switch {
	case places == was.Places && transitions == was.Transitions:
		return nil
	case places < was.Places || transitions < was.Transitions:
		return fmt.Errorf("redefine net %q: %d places and %d transitions, after %d and %d", was.ID, places, transitions, was.Places, was.Transitions)
	}
	if err := checkNet(&next); err != nil {
		return fmt.Errorf("redefine net %q: %w", was.ID, err)
	}
	if p.service != nil {
		if err := p.serveDefinition(p.service.micro, &next); err != nil {
			return fmt.Errorf("redefine net %q: %w", was.ID, err)
		}
	}
	p.redefined.mu.Lock()
	defer p.redefined.mu.Unlock()
	if p.redefined.nets == nil {
		p.redefined.nets = map[int]Net{}
	}
	p.redefined.nets[net] = next
	return nil
}

// defined returns a net as it was defined last.
func (p *Publisher) defined(net int) Net {
	p.redefined.mu.Lock()
	defer p.redefined.mu.Unlock()
	if n, ok := p.redefined.nets[net]; ok {
		return n
	}
	return p.cfg.Nets[net]
}

// takeOver brings a feed to the net's last definition. It is called by the
// goroutine that publishes.
func (p *Publisher) takeOver(net int) {
	p.redefined.mu.Lock()
	n, ok := p.redefined.nets[net]
	p.redefined.mu.Unlock()
	f := p.feeds[net]
	if size := [2]int{n.Places, n.Transitions}; ok && size != f.size {
		f.size, f.head.Digest, f.inStep = size, Digest(n.PNML), false
	}
}
