// SPDX-License-Identifier: Apache-2.0

package standby

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/collector/standby/roster"
)

// contents returns the texts of all letters that wait, by sender, in the order taken.
func contents(b *mailbox) map[string][]string {
	got := map[string][]string{}
	for {
		select {
		case <-b.filled:
		default:
			return got
		}
		for _, l := range b.take() {
			got[l.from] = append(got[l.from], string(l.data))
		}
	}
}

func TestTheSenderIsFoundWithoutDecoding(t *testing.T) {
	m := roster.Message{Version: roster.Version, ID: strings.Repeat("i", roster.MaxID), Name: "n"}
	page, parcel := Page{Version: roster.Version, ID: "a"}, Page{Version: roster.Version, ID: "a", To: "b"}
	for _, c := range []struct {
		data  []byte
		field string
		want  string
	}{
		{encoded(t, m), "id", m.ID},
		{page.Encode(), "id", "a"},
		{parcel.Encode(), "id", "a"},
		{parcel.Encode(), "to", "b"},
		{nil, "id", ""},
		{[]byte(`{"id":`), "id", ""},
		{[]byte(`{"id":"a`), "id", ""},
		{[]byte(`{"id": "a"}`), "id", ""},
		{[]byte(`{"id":"` + strings.Repeat("i", roster.MaxID+1) + `"}`), "id", ""},
	} {
		if got := idIn(c.data, c.field); got != c.want {
			t.Errorf("%s of %s: got %q; want %q", c.field, c.data, got, c.want)
		}
	}
}

// A sender's letters keep their order, also where it becomes known meanwhile.
func TestLettersOfASenderKeepTheirOrder(t *testing.T) {
	b := newMailbox("me")
	for i := range 3 {
		b.put(letter{from: "a", data: fmt.Append(nil, i)})
		b.put(letter{from: "b", data: fmt.Append(nil, i), bulk: 10})
	}
	b.know("me", []string{"a"})
	b.put(letter{from: "a", data: fmt.Append(nil, 3)})
	b.put(letter{from: "b", data: fmt.Append(nil, 3), bulk: 10})
	b.know("me", []string{"a", "b"})
	b.put(letter{from: "b", data: fmt.Append(nil, 4), bulk: 10})
	all := []string{"0", "1", "2", "3", "4"}
	if d := cmp.Diff(map[string][]string{"a": all[:4], "b": all}, contents(b)); d != "" {
		t.Error(d)
	}
	if b.bulk != 0 || b.overran() != 0 {
		t.Errorf("%d bytes wait, %d dropped; want none", b.bulk, b.overran())
	}
}

// Each take has one letter of each queue.
func TestSendersTakeTurns(t *testing.T) {
	b := newMailbox("me")
	b.know("me", []string{"a"})
	for i := range 100 {
		b.put(letter{from: "a", data: fmt.Append(nil, i)})
		b.put(letter{from: fmt.Sprint(i), data: fmt.Append(nil, i)})
	}
	b.put(letter{from: "me", data: fmt.Append(nil, 0)})
	if got := b.take(); len(got) != 3 {
		t.Errorf("got %d letters; want one of each queue", len(got))
	}
}

// Pages and parcels have bounds in bytes, of a sender and in all; messages are not
// displaced by them.
//
//promise:bounds load
func TestBulkLeavesRoomForMessages(t *testing.T) {
	b := newMailbox("me")
	b.know("me", []string{"a", "b", "c"})
	const n = maxOfSenderBytes / maxBulk
	for range n + 1 {
		b.put(letter{from: "a", bulk: maxBulk})
	}
	if b.overran() != 1 {
		t.Errorf("%d dropped; want the one beyond the bound of its sender", b.overran())
	}
	for range n {
		b.put(letter{from: "b", bulk: maxBulk})
	}
	b.put(letter{from: "c", bulk: 1})
	if b.overran() != 2 {
		t.Errorf("%d dropped; want also the one beyond the bound of all", b.overran())
	}
	for _, id := range []string{"a", "b", "c", "new"} {
		b.put(letter{from: id})
	}
	if b.overran() != 2 {
		t.Errorf("%d dropped; want no message", b.overran())
	}
	b.know("me", []string{"b", "c"})
	if b.bulk != n*maxBulk || b.overran() != 2+n+1 {
		t.Errorf("%d bytes wait, %d dropped, after a sender was forgotten; want %d and %d", b.bulk, b.overran(), n*maxBulk, 2+n+1)
	}
	contents(b)
	if b.bulk != 0 {
		t.Errorf("%d bytes wait; want none", b.bulk)
	}
}
