// SPDX-License-Identifier: Apache-2.0

//go:build peers

package browsertest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// UntilFrame waits until an expression holds in a frame of the page whose address has a
// prefix. The frame is of the same site as the page.
func (b *Tab) UntilFrame(prefix, expression string) {
	b.t.Helper()
	last := "there is no such frame"
	for end := time.Now().Add(patience); time.Now().Before(end); <-time.After(pollEvery) {
		id := b.frame(prefix)
		if id == "" {
			continue
		}
		world, err := chromedp.Call(b.ctx, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: id})
		if err != nil {
			continue // it was loaded again meanwhile
		}
		byValue := true
		result, err := chromedp.Call(b.ctx, runtime.Evaluate, runtime.EvaluateParams{Expression: fmt.Sprintf(holds, expression), ContextID: world.ExecutionContextID, ReturnByValue: &byValue})
		var held bool
		if err == nil && result.ExceptionDetails == nil && json.Unmarshal(result.Result.Value, &held) == nil && held {
			return
		}
		last = "it does not hold"
	}
	b.t.Fatalf("waiting for %s in a frame %s: %s", expression, prefix, last)
}

// frame returns the frame below the page whose address has a prefix, "" if there is none.
func (b *Tab) frame(prefix string) cdp.FrameID {
	b.t.Helper()
	tree, err := chromedp.Call(b.ctx, page.GetFrameTree, cdp.Empty{})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, child := range tree.FrameTree.ChildFrames {
		if strings.HasPrefix(child.Frame.URL, prefix) {
			return child.Frame.ID
		}
	}
	return ""
}

// Complaints returns what the page complained about, and forgets it.
func (b *Tab) Complaints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.problems
	b.problems = nil
	return all
}
