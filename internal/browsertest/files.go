// SPDX-License-Identifier: Apache-2.0

//go:build peers

package browsertest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
)

// Downloads has the tab save files to a directory that ends with the tab, and returns it.
func (b *Tab) Downloads() string {
	b.t.Helper()
	dir, err := os.MkdirTemp("", "saves-")
	if err != nil {
		b.t.Fatal(err)
	}
	b.saves = append(b.saves, dir) // it may still save there when its test ends
	params := browser.SetDownloadBehaviorParams{Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: dir, BrowserContextID: chromedp.FromContext(b.ctx).BrowserContextID}
	if _, err := chromedp.CallBrowser(b.ctx, browser.SetDownloadBehavior, params); err != nil {
		b.t.Fatal(err)
	}
	return dir
}

// Saved waits for a file in a directory of Downloads whose name ends in a text, removes it
// and returns its name and content. A browser may reserve the name before it writes, so the
// file is whole when two looks find the same content.
func (b *Tab) Saved(dir, end string) (name string, content []byte) {
	b.t.Helper()
	for limit := time.Now().Add(patience); time.Now().Before(limit); <-time.After(pollEvery) {
		files, err := os.ReadDir(dir)
		if err != nil {
			b.t.Fatal(err)
		}
		for _, f := range files {
			if !strings.HasSuffix(f.Name(), end) {
				continue
			}
			path, before := filepath.Join(dir, f.Name()), content
			content, err = os.ReadFile(path)
			if err != nil {
				b.t.Fatal(err)
			}
			if len(content) > 0 && bytes.Equal(before, content) {
				if err := os.Remove(path); err != nil {
					b.t.Fatal(err)
				}
				return f.Name(), content
			}
		}
	}
	b.t.Fatalf("no file …%s was saved", end)
	return "", nil
}
