// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// A document and what it loads, at most: requests, and bytes as they are sent. Four
// requests more are for the live data.
const (
	mostFiles = 4
	mostBytes = 120_000
)

// A document and its files are few requests. A browser keeps the files by their digest, and
// asks again only for the document, which has not changed.
func TestADocumentAndItsFilesAreFewAndKept(t *testing.T) {
	st := newStage(t, nil)
	for _, document := range []string{"/", EmbedPath} {
		text, size, header := st.load(t, document)
		if got := header.Get("Cache-Control"); got != "no-cache" {
			t.Errorf("%s has Cache-Control %q; want no-cache", document, got)
		}
		if again := st.get(document, "If-None-Match", header.Get("ETag")); again.Code != http.StatusNotModified {
			t.Errorf("%s that has not changed: status %d; want 304", document, again.Code)
		}
		files := references(t, document, text)
		for _, file := range files {
			text, packed, header := st.load(t, file)
			size += packed
			kept := header.Get("Cache-Control")
			if kept != "max-age=31536000, immutable" {
				t.Errorf("%s loads %s with Cache-Control %q; want a year, immutable", document, file, kept)
			}
			if again := st.get(file, "If-None-Match", header.Get("ETag")); again.Code != http.StatusNotModified || again.Header().Get("Cache-Control") != kept {
				t.Errorf("%s asked for again: status %d, Cache-Control %q; want 304 and that of before", file, again.Code, again.Header().Get("Cache-Control"))
			}
			if more := loads.FindAllString(text, -1); len(more) > 0 {
				t.Errorf("%s loads more once it is loaded: %q", file, more)
			}
		}
		if requests := 1 + len(files); requests != mostFiles || size > mostBytes {
			t.Errorf("%s is %d requests and %d bytes; want %d and at most %d", document, requests, size, mostFiles, mostBytes)
		}
	}
}

// loads finds what a script or a style sheet loads as soon as it is loaded itself.
var loads = regexp.MustCompile(`\bfrom ?"[^"]+"|@import[^;]+|\burl\([^)]+\)|\bimport ?\(?"[^"]+"`)

// load returns the text of an answer, how many bytes it is when it is sent to a browser, and its header.
func (st *stage) load(t *testing.T, at string) (text string, size int, header http.Header) {
	t.Helper()
	w := st.get(at, "Accept-Encoding", "gzip")
	if w.Code != http.StatusOK {
		t.Fatalf("%s: status %d", at, w.Code)
	}
	body := io.Reader(bytes.NewReader(w.Body.Bytes()))
	if w.Header().Get("Content-Encoding") == "gzip" {
		var err error
		if body, err = gzip.NewReader(body); err != nil {
			t.Fatal(err)
		}
	}
	plain, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(plain), w.Body.Len(), w.Header()
}

// references returns the paths of what a document loads.
func references(t *testing.T, document, text string) (all []string) {
	t.Helper()
	base := &url.URL{Path: document}
	for _, match := range regexp.MustCompile(`<(?:link|script|img)[^>]* (?:href|src)="([^"]+)"`).FindAllStringSubmatch(text, -1) {
		at, err := base.Parse(match[1])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, at.Path)
	}
	return all
}

// A browser never shows a file of one version to a document of another: the digest is of
// all files. A page that stays open while another version starts gets files of that.
func TestTheDigestIsOfAllFiles(t *testing.T) {
	page := func(change string) *site {
		files := fstest.MapFS{"dist/main.js": {}, "page/vendor/v.css": {}, "page/fetch": {}, "page/embed.html": {},
			"page/index.html": {Data: []byte(`<a href="api"><link href="assets/main.css"><script src="assets/main.js">`)}}
		if change != "" {
			files[change].Data = append(slices.Clone(files[change].Data), ' ')
		}
		s, err := readSite(files, "dist", "page")
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	before := page("")
	for change, other := range map[string]bool{"": false, "dist/main.js": true, "page/vendor/v.css": true, "page/index.html": true, "page/fetch": false} {
		if got := page(change).digest != before.digest; got != other {
			t.Errorf("a change of %q: another digest is %t, want %t", change, got, other)
		}
	}
	index, _ := before.find("/")
	if got, want := string(index.text), `<a href="api"><link href="assets/`+before.digest+`/main.css"><script src="assets/`+before.digest+`/main.js">`; got != want {
		t.Errorf("the document is %s; want %s", got, want)
	}
	for at, want := range map[string]struct {
		found bool
		cache string
	}{
		assets + before.digest + "/main.js": {true, forever}, assets + before.digest + "/vendor/v.css": {true, forever},
		assets + "another/main.js": {true, ""}, "/main.js": {true, ""}, "/": {true, ""}, "/index.html": {true, ""}, EmbedPath: {true, ""},
		assets + before.digest + "/index.html": {}, assets + before.digest + "/": {}, assets + "main.js": {}, assets: {}, "/fetch": {}, "/dist/main.js": {},
	} {
		if f, cache := before.find(at); (f != nil) != want.found || want.found && cache != want.cache {
			t.Errorf("%s: found %t, Cache-Control %q; want %+v", at, f != nil, cache, want)
		}
	}
	if _, err := readSite(fstest.MapFS{"page/index.html": {}}, "page"); err == nil || !strings.Contains(err.Error(), "/embed.html") {
		t.Errorf("without a document: %v", err)
	}
}

// What is served is made of the modules as they are.
func TestTheBundlesAreCurrent(t *testing.T) {
	made := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", "run", ".", made)
	cmd.Dir = "bundle"
	cmd.Env = append(os.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want, served := folder(t, made), folder(t, "dist")
	if got := slices.Sorted(maps.Keys(served)); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
		t.Errorf("dist has %q; the bundles are %q", got, slices.Sorted(maps.Keys(want)))
	}
	for name, text := range want {
		if served[name] != text {
			t.Errorf("dist/%s is not of the modules in page; run: go generate ./web", name)
		}
	}
}
