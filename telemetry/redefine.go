// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"bytes"
	"fmt"
	"sync"
)

// redefinitions are new definitions of nets, until the goroutine that publishes uses them.
type redefinitions struct {
	mu   sync.Mutex
	nets map[int]redefinition
}

type redefinition struct {
	SourceNet
	digest string // of its PNML
}

// Redefine gives Nets[net] another definition with at least as many rows, for an
// engine that discovers its net while it runs. Existing rows keep their indices, so counters continue
// in the same epoch. The same bytes change nothing. The next
// snapshot is full, and Config.Rows then receives zeros of the new size.
//
// ID, Region, Fence and Since stay. The error is that of Start for a
// definition, or reports that the net would become smaller; the net is then
// published as before. Call it from one goroutine at a time, and not after
// Close.
func (p *Publisher) Redefine(net int, places, transitions int, pnml []byte) error {
	was := p.defined(net)
	next := was
	next.PNML, next.Places, next.Transitions = pnml, places, transitions
	switch {
	case places == was.Places && transitions == was.Transitions && bytes.Equal(pnml, was.PNML):
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
		p.redefined.nets = map[int]redefinition{}
	}
	p.redefined.nets[net] = redefinition{next, Digest(pnml)}
	return nil
}

// defined returns the last definition of a net.
func (p *Publisher) defined(net int) SourceNet {
	p.redefined.mu.Lock()
	defer p.redefined.mu.Unlock()
	if n, ok := p.redefined.nets[net]; ok {
		return n.SourceNet
	}
	return p.cfg.Nets[net]
}

// takeOver sets a feed to the net's last definition. The goroutine that publishes calls it.
func (p *Publisher) takeOver(net int) {
	p.redefined.mu.Lock()
	n, ok := p.redefined.nets[net]
	p.redefined.mu.Unlock()
	f := p.feeds[net]
	if ok && n.digest != f.head.Digest {
		f.size, f.head.Digest, f.inStep = [2]int{n.Places, n.Transitions}, n.digest, false
	}
}
