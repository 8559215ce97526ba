// SPDX-License-Identifier: Apache-2.0

//go:build peers

package page

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/internal/browsertest"
	"github.com/pnagent/pnagent/internal/cachetest"
)

// make site writes a site of which every link leads somewhere; scripts/site ends with an error
// otherwise. A browser shows its pictures, finds a command by search, and asks no other host.
func TestTheSiteOfTheDocuments(t *testing.T) {
	t.Parallel()
	folder := cachetest.Dir(t, "site-", []byte("1"), func(dir string) error { return os.MkdirAll(dir, 0o755) }) // keeps mkdocs
	out, err := exec.CommandContext(t.Context(), "../../scripts/site", folder).CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 77 {
		t.Skipf("mkdocs cannot be fetched:\n%s", out)
	}
	if err != nil {
		t.Fatalf("scripts/site: %v\n%s", err, out)
	}
	served := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(folder, "html"))))
	defer served.Close()
	b := browsertest.Start(t).Tab(t)
	for _, page := range []string{"/docs/concepts.html", "/index.html"} {
		b.Visit(served.URL + page)
		b.Until(`document.images.length > 0 && [...document.images].every((i) => { i.loading = 'eager'; return i.complete && i.naturalWidth > 0; })`)
	}
	b.Screenshot("site")
	b.Click(".md-search__form label, .md-search__input")
	b.Keys("wire check")
	b.Until(`[...document.querySelectorAll('.md-search-result__link')].some((a) => a.href.includes('/commands/wire-check.html'))`)
	b.Visit(served.URL + "/docs/reference/commands/wire-check.html")
	if title := b.Text("h1"); !strings.HasPrefix(title, "pnagent wire check") {
		t.Errorf("the title of a command's page is %q", title)
	}
	b.Visit(served.URL + "/dashboards/index.html")
	if !browsertest.Eval[bool](b, `fetch([...document.links].find((a) => a.href.endsWith('grafana-net.png')).href).then((r) => r.ok)`) {
		t.Error("no picture of a dashboard")
	}
	b.Clean(strings.TrimPrefix(served.URL, "http://"), false)
}
