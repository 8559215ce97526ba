// SPDX-License-Identifier: Apache-2.0

package kubernetes

import "sync"

// object is what is kept of an object of the API.
type object interface{ uid() string }

// change is what happened to an object since the last poll. Several changes are one: the
// object as it is now, or as it was when it was deleted.
type change struct {
	collection string
	last       object // nil if it is only known that it was deleted
	gone       bool
}

// changes are those since the last poll, by the objects' UIDs. Collections add them, and the
// poll takes them.
type changes struct {
	mu    sync.Mutex
	byUID map[string]change
	lists map[string]bool // collections that were listed since
}

func newChanges() *changes { return &changes{byUID: map[string]change{}, lists: map[string]bool{}} }

func (c *changes) put(collection string, o object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byUID[o.uid()] = change{collection: collection, last: o}
}

// remove notes that an object was deleted. Its last state is that of an earlier change, if
// none is given.
func (c *changes) remove(collection, uid string, last object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if last == nil {
		last = c.byUID[uid].last
	}
	c.byUID[uid] = change{collection: collection, last: last, gone: true}
}

// listed notes that all objects of a collection are among the changes.
func (c *changes) listed(collection string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lists[collection] = true
}

// take returns the changes, and the collections that were listed, since the last call.
func (c *changes) take() (byUID map[string]change, lists map[string]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	byUID, lists = c.byUID, c.lists
	c.byUID, c.lists = map[string]change{}, map[string]bool{}
	return byUID, lists
}
