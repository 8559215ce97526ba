// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
)

//go:embed page
var pageFiles embed.FS

// file is one file of the page.
type file struct {
	contentType string
	etag        string // quoted
	text        []byte
	packed      func() []byte // gzip; nil where that is not shorter
}

// contentTypes are those of the kinds of files that a page may have.
func contentTypes() map[string]string {
	return map[string]string{
		".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
		".svg": "image/svg+xml", ".png": "image/png", ".ico": "image/x-icon", ".json": "application/json", ".txt": "text/plain; charset=utf-8",
	}
}

// readFiles reads the files of a page, by the path that they are served at.
// Those of other kinds, such as its tests, are left out.
func readFiles(page fs.FS) (map[string]*file, error) {
	out, types := map[string]*file{}, contentTypes()
	err := fs.WalkDir(page, ".", func(name string, d fs.DirEntry, err error) error {
		kind := types[path.Ext(name)]
		if err != nil || d.IsDir() || kind == "" || strings.Contains(path.Base(name), ".test.") {
			return err
		}
		text, err := fs.ReadFile(page, name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(text)
		out["/"+name] = &file{contentType: kind, etag: `"` + hex.EncodeToString(sum[:12]) + `"`, text: text,
			packed: sync.OnceValue(func() []byte { return packFile(text) })}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the page: %w", err)
	}
	if index := out["/index.html"]; index != nil {
		out["/"] = index
	}
	return out, nil
}

// packFile returns gzip, or nil where that is not shorter.
func packFile(text []byte) []byte {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(text)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil || out.Len() >= len(text) {
		return nil
	}
	return out.Bytes()
}

// serveFile answers with a file of the page.
func (s *Server) serveFile(w http.ResponseWriter, r *http.Request) {
	f := s.files[r.URL.Path]
	if f == nil {
		refuse(w, http.StatusNotFound, "there is nothing at "+r.URL.Path)
		return
	}
	if unchanged(w, r, f.etag) {
		return
	}
	w.Header().Set("Content-Type", f.contentType)
	w.Header().Set("Vary", "Accept-Encoding")
	text := f.text
	if takesGzip(r) {
		if packed := f.packed(); packed != nil {
			w.Header().Set("Content-Encoding", "gzip")
			text = packed
		}
	}
	if r.Method != http.MethodHead {
		_, _ = w.Write(text) // fails only where nobody reads
	}
}
