// SPDX-License-Identifier: Apache-2.0

package region

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/telemetry"
)

// Known is the last commit of a part that one of its owners has published as
// confirmed. Every member remembers it as long as it runs, and publishes it
// while the part has no owner, so that members that have just started learn it.
// A log without this commit has lost commits: its stream was removed, purged or
// replaced by an older copy, or its server has lost power.
type Known struct {
	Part     string `json:"part"`
	Owner    string `json:"owner"`
	Epoch    uint64 `json:"epoch"`
	Position uint64 `json:"position"`
	Chain    string `json:"chain"` // over the log up to Position
	Since    int64  `json:"since,omitempty"`
}

var errKnown = errors.New("expected a part, its owner, and a commit with its chain")

// check validates what another member has sent.
func (k *Known) check() error {
	if err := errors.Join(telemetry.CheckName(k.Part), telemetry.CheckName(k.Owner)); err != nil {
		return err
	}
	if k.Epoch == 0 || k.Position == 0 || k.at().Mark == 0 {
		return fmt.Errorf("%w; found part %q, epoch %d, commit %d", errKnown, k.Part, k.Epoch, k.Position)
	}
	return nil
}

// at returns the cursor of the commit.
func (k *Known) at() engine.Cursor {
	s := engine.Standing{Position: k.Position, Chain: k.Chain}
	return s.At()
}

// after reports whether the commit is later than another one of the same log.
func (k *Known) after(other *Known) bool {
	return cmp.Or(cmp.Compare(k.Epoch, other.Epoch), cmp.Compare(k.Position, other.Position)) > 0
}

// learn records the commits in a beat; the caller holds mu. What an owner
// publishes that accepts logs that have lost commits replaces what was known.
func (r *roster) learn(b *Beat) {
	for i := range b.Parts {
		p := &b.Parts[i]
		if p.Role != Owner {
			continue
		}
		k := Known{Part: p.Part, Owner: b.Source, Epoch: p.Epoch, Position: p.Position, Chain: p.Chain, Since: p.Since}
		if k.check() == nil {
			r.keepKnown(k, b.Again)
		}
	}
	if r.again || b.Source == r.self {
		return
	}
	for _, k := range b.Known {
		r.keepKnown(k, false)
	}
}

func (r *roster) keepKnown(k Known, replace bool) {
	before, ok := r.known[k.Part]
	if !ok && len(r.known) >= maxParts {
		return
	}
	if !ok || replace || k.after(&before) {
		r.known[k.Part] = k
	}
}

// recall records a commit that this member has confirmed as an owner.
func (r *roster) recall(k Known) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k.check() == nil {
		r.keepKnown(k, r.again)
	}
}

// knownOf returns what is known of a part.
func (r *roster) knownOf(part string) (k Known, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k, ok = r.known[part]
	return k, ok
}

// unowned returns what is known of the parts that have no owner.
func (r *roster) unowned(now time.Time) []Known {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []Known
	for part := range r.known {
		if _, owned := r.ownerLocked(part, now); !owned {
			all = append(all, r.known[part])
		}
	}
	return all
}

// informed reports whether this member has received beats for long enough to
// know what other members know.
func (r *roster) informed(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.presentAt(now) >= goneTimes*r.limit(now)
}
