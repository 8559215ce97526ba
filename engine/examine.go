// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"
	"io"

	"github.com/pnagent/pnagent/engine/journal"
)

// Examination is the content of a journal as far as it is readable without its
// nets.
type Examination struct {
	Nets      []netDigest `json:"nets"`
	Instances int         `json:"instances"`       // of each net
	Spare     int         `json:"spare,omitempty"` // of those, see Config.Spare
	Created   int64       `json:"created"`         // when they began, microseconds since the Unix epoch
	First     string      `json:"first_owner,omitempty"`
	Owner     string      `json:"owner,omitempty"` // the last one
	Epoch     uint64      `json:"epoch,omitempty"` // of that
	// From and To are the times of the first and the last commit behind the newest
	// snapshot, microseconds since the Unix epoch; 0 if there is none.
	From  int64  `json:"from,omitempty"`
	To    int64  `json:"to,omitempty"`
	Sound uint64 `json:"sound"` // the last commit that can be read
}

// Examine reads the form of a journal of whole nets: the header, its owners,
// the frames of its commits. Replays checks whether the nets can have done what
// the commits record. The error is what is wrong with the commit after Sound.
func Examine(ctx context.Context, log journal.Log) (*Examination, error) {
	r := &recorder{log: log}
	x := &Examination{}
	upTo, err := log.LoadSnapshot(ctx, func(src io.Reader) error {
		_, err := r.readHeader(src)
		return err
	})
	if err == nil && upTo == 0 {
		err = r.first(ctx)
	}
	if err != nil {
		return x, fmt.Errorf("reading the journal: %w", err)
	}
	r.owns, r.queues = r.head.Owns, make([]queueCounts, len(r.head.Nets))
	if p := r.head.Part; p != nil {
		return x, fmt.Errorf("%w: it is of part %q of a net; expected whole nets", ErrJournal, p.Name)
	}
	x.Sound = upTo
	err = x.commits(ctx, r, upTo)
	x.Nets, x.Instances, x.Spare, x.Created = r.head.Nets, r.head.Instances, r.head.Spare, r.head.Created
	x.First, x.Owner, x.Epoch = r.head.First, r.owns.Owner, r.owns.Epoch
	return x, err
}

// commits reads the commits behind a snapshot.
func (x *Examination) commits(ctx context.Context, r *recorder, upTo uint64) error {
	nets := len(r.head.Nets)
	for c, err := range r.log.Read(ctx, upTo+1) {
		if err != nil {
			return fmt.Errorf("reading the journal behind commit %d: %w", x.Sound, err)
		}
		if c.Sequence == 1 {
			x.Sound = 1
			continue // the header
		}
		commit, err := r.whole.add(c.Payload)
		if err == nil && commit != nil {
			err = eachSection(commit, nets, func(kind int, body []byte, now int64) error {
				x.To = max(x.To, now)
				if x.From == 0 {
					x.From = now
				}
				if kind < nets {
					return nil
				}
				return r.replay(kind-nets, body, now)
			})
		}
		if err != nil {
			return fmt.Errorf("reading the journal: %s: %w", c.Place(), err)
		}
		x.Sound = c.Sequence
	}
	return nil
}

// Replays reads the journal of a Config as New does, and changes nothing. It
// returns the last commit up to which the nets can have done what the journal
// records, and what is wrong with the next one.
func Replays(ctx context.Context, cfg Config) (upTo uint64, err error) {
	if cfg.Journal == nil || cfg.Journal.Last() == 0 {
		return 0, fmt.Errorf("%w: no readable journal", ErrConfig)
	}
	e, err := read(ctx, cfg)
	if e == nil || e.recorder == nil {
		return 0, err
	}
	return e.recorder.sound, err
}
