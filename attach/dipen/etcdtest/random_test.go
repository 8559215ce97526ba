// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRowsAreTheTruthAfterEveryQuiescence(t *testing.T) {
	for seed := range uint64(2) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			e := startEtcd(t, false)
			m := emulate(e, seed)
			b := newBench(t)
			b.attach(e)
			for range 6 {
				m.steps(60)
				b.agrees(m)
				b.agesAgree(m)
			}
		})
	}
}

// Firings, cancels and arrivals, summed over the adapter's processes, are those of
// all transactions since the attachment.
//
//promise:counters none
func TestNothingIsLostOrCountedTwice(t *testing.T) {
	for name, disturb := range map[string]func(*testing.T, *etcd, *bench, *emulation){
		"the adapter is restarted": func(_ *testing.T, e *etcd, b *bench, m *emulation) {
			b.detach(b.adapter)
			m.steps(80)
			b.attach(e)
		},
		"a connection is cut": func(_ *testing.T, e *etcd, _ *bench, m *emulation) {
			e.proxy.cut(true)
			m.steps(80)
			e.proxy.cut(false)
		},
		"etcd compacts what was read": func(t *testing.T, e *etcd, b *bench, m *emulation) {
			m.steps(80)
			b.agrees(m)
			e.compact(b.adapter.status().Revision)
			m.steps(80)
			if n := b.adapter.status().Gaps.Count; n != 0 {
				t.Errorf("%d gaps", n)
			}
		},
		"etcd is restarted": func(_ *testing.T, e *etcd, _ *bench, m *emulation) {
			m.steps(80)
			e.restart()
			m.steps(80)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := startEtcd(t, false)
			m := emulate(e, 7)
			b := newBench(t)
			b.attach(e)
			for range 2 {
				m.steps(50)
				b.agrees(m)
				disturb(t, e, b, m)
				m.steps(50)
				b.agrees(m)
			}
		})
	}
}

func TestTokensDoNotBecomeYoungWhenTheAdapterIsRestarted(t *testing.T) {
	t.Parallel()
	e := startEtcd(t, false)
	m := emulate(e, 3)
	b := newBench(t)
	b.attach(e)
	b.looks() // just before, so that the age of the token is known
	m.inject(0)
	b.agrees(m)
	b.agesAgree(m)
	b.detach(b.adapter)
	waitFor(t, m, 3*time.Second) // an adapter without the stored times would report a token that is younger by this time
	b.attach(e)
	b.looks()
	m.inject(1)
	b.agrees(m)
	b.agesAgree(m)
	for _, p := range b.net().Rows.Places {
		for _, s := range p.Stuck {
			if s.Instance != "1" && s.Instance != "2" {
				t.Errorf("a token is named %q", s.Instance)
			}
		}
	}
}

func TestATokenOlderThanTheAttachmentIsAtLeastAsOld(t *testing.T) {
	t.Parallel()
	e := startEtcd(t, false)
	m := emulate(e, 3)
	m.inject(0)
	attached := time.Now()
	b := newBench(t)
	b.attach(e)
	b.agrees(m)
	row := &b.net().Rows.Places[placeRow(t, b, "raw")]
	if row.Oldest < attached.UnixMicro() {
		t.Errorf("the age of a token from before the attachment is too high by %v", attached.Sub(time.UnixMicro(row.Oldest)))
	}
	if len(row.Stuck) != 1 || row.Stuck[0].Instance != "1 (or older)" {
		t.Errorf("the token is named %+v", row.Stuck)
	}
}

func placeRow(t *testing.T, b *bench, id string) int {
	t.Helper()
	for i, p := range b.net().Def.Places {
		if p.ID == id {
			return i
		}
	}
	t.Fatalf("no place %q", id)
	return 0
}

func TestAfterACompactionCountingContinuesAtTheOldestRevisionThatIsLeft(t *testing.T) {
	for _, how := range []string{"while the adapter is away", "while the connection is cut"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			e := startEtcd(t, false)
			m := emulate(e, 11)
			b := newBench(t)
			b.attach(e)
			m.steps(60)
			b.agrees(m)
			before := m.truth()
			if how == "while the adapter is away" {
				b.detach(b.adapter)
			} else {
				e.proxy.cut(true)
			}
			m.steps(60)
			lost := m.truth()
			oldest := e.txn(put("elsewhere", ""))
			e.compact(oldest)
			m.steps(60)
			e.proxy.cut(false)
			if how == "while the adapter is away" {
				b.attach(e)
			}
			truth := m.truth()
			for name := range truth.Firings {
				truth.Firings[name] -= lost.Firings[name] - before.Firings[name]
			}
			for name := range truth.Cancels {
				truth.Cancels[name] -= lost.Cancels[name] - before.Cancels[name]
				if truth.Cancels[name] == 0 {
					delete(truth.Cancels, name)
				}
			}
			until(t, "the rows are the truth less what was compacted", func() error {
				got := b.seen()
				got.Arrivals = truth.Arrivals // tokens that came and went in the gap are not counted
				if d := cmp.Diff(truth, got); d != "" {
					return fmt.Errorf("%+v\n%s", b.adapter.status(), d)
				}
				return nil
			})
			g := b.adapter.status().Gaps
			if g.Count != 1 || g.Revisions <= 0 || g.Since == 0 {
				t.Errorf("gaps are %+v", g)
			}
		})
	}
}
