// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// Times of a watch.
const (
	watchFor    = 5 * time.Minute // a watch lasts for one to two of these; then the server ends it
	watchGrace  = 30 * time.Second
	shortest    = time.Second      // before a request is sent again that took less
	longest     = 30 * time.Second // between two tries after errors
	absentAgain = time.Minute      // before it is asked again whether the API has a resource
)

// resource is a kind of object of the API.
type resource struct {
	name                   string // unique, for the state and metrics
	group, version, plural string
	selectors              url.Values
	read                   func(json.RawMessage) (object, error) // of what is kept of one
}

// gone is an error that says that a resource version, or a page, is too old.
func gone(err error) bool { return code(err) == http.StatusGone }

// collection lists and watches the objects of a resource, in one namespace or in all.
type collection struct {
	resource
	namespace string // "" for all
	cluster   *Cluster
	out       *changes

	// Of the goroutine that runs it.
	uids  map[string]int // objects that exist: the list that had it last
	lists int
	whole bool // a page was too old, so a list is one answer

	mu     sync.Mutex
	synced bool          // it was listed once, or the API does not have it
	err    error         // of the last request
	ready  chan struct{} // closed as it is synced, or as the first error comes
	counts requests
}

// requests counts what a collection asked for.
type requests struct{ Lists, Watches, Expired, Errors, Events uint64 }

func newCollection(r resource, namespace string, cluster *Cluster, out *changes) *collection {
	if namespace != "" {
		r.name = namespace + "/" + r.name
	}
	return &collection{resource: r, namespace: namespace, cluster: cluster, out: out, uids: map[string]int{}, ready: make(chan struct{})}
}

// root returns the path of the group and version.
func (r *resource) root() string {
	if r.group == "" {
		return "/api/" + r.version
	}
	return "/apis/" + r.group + "/" + r.version
}

func (c *collection) path() string {
	if c.namespace == "" {
		return c.root() + "/" + c.plural
	}
	return c.root() + "/namespaces/" + url.PathEscape(c.namespace) + "/" + c.plural
}

// run lists and watches until ctx ends. After an error of a watch it continues at the version
// that it reached. It lists again if the server does not know that version any more.
func (c *collection) run(ctx context.Context) {
	version, wait := "", time.Duration(0)
	for ctx.Err() == nil {
		begin := time.Now()
		next, err := c.once(ctx, version)
		version = next
		switch {
		case errors.Is(err, errAbsent):
			c.settle(nil)
			wait = absentAgain
		case gone(err):
			version, wait = "", shortest
			c.count(func(r *requests) { r.Expired++ })
		case err != nil:
			if ctx.Err() == nil {
				c.settle(err)
			}
			wait = min(max(2*wait, shortest), longest)
		default:
			wait = max(shortest-time.Since(begin), 0)
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait/2 + rand.N(wait/2+1)):
		}
	}
}

// errAbsent says that the API does not have a resource.
var errAbsent = errors.New("the API does not have it")

// once lists, or watches from a version, and returns the version that is reached.
func (c *collection) once(ctx context.Context, version string) (string, error) {
	if version != "" {
		return c.watch(ctx, version)
	}
	if err := c.exists(ctx); err != nil {
		return "", err
	}
	version, err := c.list(ctx)
	if err == nil {
		c.settle(nil)
	}
	return version, err
}

// exists asks whether the API has the resource. A role that allows nothing does not hide that,
// as it would in an answer to a list.
func (c *collection) exists(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, watchGrace)
	defer cancel()
	body, err := c.cluster.get(ctx, c.root(), nil)
	if code(err) == http.StatusNotFound {
		return errAbsent
	}
	if err != nil {
		return err
	}
	defer body.Close()
	var found struct{ Resources []struct{ Name string } }
	if err := newDecoder(body).next(&found); err != nil {
		return fmt.Errorf("GET %s: %w", c.root(), err)
	}
	for _, r := range found.Resources {
		if r.Name == c.plural {
			return nil
		}
	}
	return errAbsent
}

// list reads all objects in pages, and forgets those that are not among them.
func (c *collection) list(ctx context.Context) (version string, err error) {
	c.count(func(r *requests) { r.Lists++ })
	c.lists++
	next := ""
	for {
		meta, err := c.page(ctx, next)
		if gone(err) {
			c.whole = true
		}
		if err != nil {
			return "", err
		}
		version, next = meta.ResourceVersion, meta.Continue
		if next == "" {
			break
		}
	}
	for uid, seen := range c.uids {
		if seen != c.lists {
			c.remove(uid, nil)
		}
	}
	c.out.listed(c.name)
	return version, nil
}

func (c *collection) page(ctx context.Context, next string) (listMeta, error) {
	ctx, cancel := context.WithTimeout(ctx, watchFor)
	defer cancel()
	body, err := c.cluster.get(ctx, c.path(), pageQuery(c.selectors, next, c.whole))
	if err != nil {
		return listMeta{}, err
	}
	defer body.Close()
	meta, err := readList(body, c.put)
	if err != nil {
		err = fmt.Errorf("GET %s: %w", c.path(), err)
	}
	return meta, err
}

// put takes an object that exists.
func (c *collection) put(text json.RawMessage) error {
	o, err := c.read(text)
	if err != nil {
		return err
	}
	c.uids[o.uid()] = c.lists
	c.out.put(c.name, o)
	return nil
}

// remove takes an object that does not exist any more, with its last state if that is known.
func (c *collection) remove(uid string, last object) {
	delete(c.uids, uid)
	c.out.remove(c.name, uid, last)
}

// watch reads changes after a version until the server ends it, and returns the version that
// it reached.
func (c *collection) watch(ctx context.Context, version string) (string, error) {
	c.count(func(r *requests) { r.Watches++ })
	lasts := watchFor + rand.N(watchFor)
	ctx, cancel := context.WithTimeout(ctx, lasts+watchGrace)
	defer cancel()
	q := pageQuery(c.selectors, "", true)
	q.Set("watch", "1")
	q.Set("allowWatchBookmarks", "true")
	q.Set("resourceVersion", version)
	q.Set("timeoutSeconds", strconv.Itoa(int(lasts.Seconds())))
	body, err := c.cluster.get(ctx, c.path(), q)
	if err != nil {
		return version, err
	}
	defer body.Close()
	c.settle(nil)
	err = readWatch(body, func(kind string, text json.RawMessage) error {
		reached, err := c.apply(kind, text)
		if err == nil {
			version = reached
		}
		return err
	})
	if err != nil && code(err) == 0 {
		err = fmt.Errorf("watching %s: %w", c.path(), err)
	}
	return version, err
}

// apply applies an event of a watch, and returns its version.
func (c *collection) apply(kind string, text json.RawMessage) (version string, err error) {
	c.count(func(r *requests) { r.Events++ })
	if kind == "ERROR" {
		var s status
		if err := json.Unmarshal(text, &s); err != nil {
			return "", err
		}
		return "", &statusError{path: c.path(), code: s.Code, message: s.Message}
	}
	var o struct {
		Metadata struct {
			UID             string `json:"uid"`
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(text, &o); err != nil {
		return "", err
	}
	switch kind {
	case "ADDED", "MODIFIED":
		err = c.put(text)
	case "DELETED":
		var last object
		last, err = c.read(text)
		c.remove(o.Metadata.UID, last)
	}
	if o.Metadata.ResourceVersion == "" {
		err = errors.Join(err, fmt.Errorf("an event %q without a resource version", kind))
	}
	return o.Metadata.ResourceVersion, err
}

// settle notes how the last request ended.
func (c *collection) settle(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.counts.Errors++
	}
	c.err = err
	c.synced = c.synced || err == nil
	select {
	case <-c.ready:
	default:
		close(c.ready)
	}
}

func (c *collection) count(add func(*requests)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	add(&c.counts)
}
