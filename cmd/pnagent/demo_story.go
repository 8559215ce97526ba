// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/petri"
)

// scene is a way in which a token gets stuck in the demo.
type scene struct {
	net, place string
	// by is fired from outside to put the token into the place, in an instance in which it is
	// enabled. Without it the office of the engine chooses the instance: see office.keeps.
	by string
	// heal is the transition for which the token waits, and command the one of pnagent that a
	// visitor can fire it with; "" if it is running, and cannot be fired.
	heal, command string
	sticks, heals string // what the demo prints
}

// scenes follow each other without an end, now in one engine and now in the other.
var scenes = []scene{
	{"backup-window", "failed", "reject", "release", "fire",
		"The backup did not pass its verification. No job starts until an operator has looked at it.",
		"An operator looked at the backup and released it."},
	{claimNet, "approve/active", "", approve, "fire",
		"A clerk went to lunch and left a claim unapproved.",
		"The clerk came back and approved the claim."},
	{"packaging-line", "emptyRoll", "", changeRoll, "",
		"The labels ran out. Crates wait until a new roll has been fetched from the store.",
		"The new roll of labels arrived."},
	{"order-fulfilment", "customsHeld", "hold", "sendPapers", "fire",
		"Customs hold a parcel until they get its papers.",
		"The papers were sent to customs."},
	{claimNet, "toPay", "", pay, "retry",
		"The bank does not answer, so a claim cannot be paid: an incident.",
		"The bank answers again, and a clerk had the payment repeated."},
	{"order-fulfilment", "paymentUnclear", "misbook", "clarify", "fire",
		"Money arrived without a reference. Only a person in accounting can find out whose it is.",
		"Accounting found out whose money it is."},
}

const (
	// overlap is how long two tokens are stuck: long enough that the second one raises its
	// alarm before the first one is healed.
	overlap = 30 * time.Second
	alone   = 20 * time.Second // how long one token is stuck before the next one is looked for
)

// branch is one engine of the demo, and what is around it.
type branch struct {
	*office
	engine    *engine.Engine
	instances int
}

// victim is an instance that is stuck.
type victim struct {
	*scene
	branch   *branch
	instance int
	healed   chan struct{} // closed when it is healed
}

// story makes one token stick after the other, so that one or two are stuck at any time, and
// prints what happened.
type story struct {
	branches []*branch
	tables   []*petri.Tables
	out      io.Writer
	nats     string // the URL in the commands that it prints
}

// run plays scenes until ctx ends.
func (s *story) run(ctx context.Context) error {
	var last *victim
	for n := 0; ctx.Err() == nil; n++ {
		// The next round has each scene in another engine, whatever the number of scenes.
		b := s.branches[(n+n/len(scenes))%len(s.branches)]
		v, err := s.play(ctx, b, &scenes[n%len(scenes)], last)
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("the story of the demo: %w", err)
		}
		last = v
	}
	return nil
}

// play makes an instance stick, and heals the last one once this one has stuck for a while.
func (s *story) play(ctx context.Context, b *branch, c *scene, last *victim) (*victim, error) {
	v, err := s.stick(ctx, b, c)
	if err != nil {
		return nil, err
	}
	s.print("stuck", v, v.sticks)
	if err := pause(ctx, overlap); err != nil {
		return nil, err
	}
	if last != nil {
		if err := s.release(ctx, last); err != nil {
			return nil, err
		}
	}
	return v, pause(ctx, alone)
}

// stick returns the instance that is stuck.
func (s *story) stick(ctx context.Context, b *branch, c *scene) (*victim, error) {
	v := &victim{scene: c, branch: b, healed: make(chan struct{})}
	if c.by == "" {
		found := b.wish(v)
		select {
		case <-found:
			return v, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	for {
		done, err := s.force(ctx, v)
		if err != nil || done {
			return v, err
		}
		if err := pause(ctx, time.Second); err != nil {
			return nil, err
		}
	}
}

// force fires the transition that makes a token stick, in an instance in which it is enabled. It
// begins with any of them.
func (s *story) force(ctx context.Context, v *victim) (done bool, err error) {
	first := rand.IntN(v.branch.instances)
	for n := range v.branch.instances {
		v.instance = (first + n) % v.branch.instances
		err := v.branch.engine.Fire(ctx, v.net, v.instance, v.by)
		if !errors.Is(err, petri.ErrNotEnabled) {
			return err == nil, err
		}
	}
	return false, nil
}

// release lets an instance continue. A visitor may have done that before.
func (s *story) release(ctx context.Context, v *victim) error {
	close(v.healed)
	text := v.heals
	if v.command != "" {
		err := v.branch.engine.Fire(ctx, v.net, v.instance, v.heal)
		if err != nil && !errors.Is(err, petri.ErrNotEnabled) {
			return err
		}
		if err != nil {
			text = "You released it."
		}
	}
	s.print("healed", v, text)
	return nil
}

// print writes a line about an instance, and the command that heals it below.
func (s *story) print(what string, v *victim, text string) {
	i := slices.IndexFunc(s.tables, func(t *petri.Tables) bool { return t.Net.ID == v.net })
	instance := v.branch.engine.InstanceName(v.instance)
	fmt.Fprintf(s.out, "%s  %-6s  %s, %s: %s\n", time.Now().Format(time.TimeOnly), what, s.tables[i].Net.Name, instance, text)
	if what == "stuck" && v.command != "" {
		fmt.Fprintf(s.out, "                  pnagent %s --nats %s %s %s %s\n", v.command, s.nats, v.net, instance, v.heal)
	}
}
