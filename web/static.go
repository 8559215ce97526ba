// SPDX-License-Identifier: Apache-2.0

package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

// EmbedPath is the path of the page for frames: one drawing or the alarms, without
// anything that acts.
const EmbedPath = "/embed"

//go:embed page
var pageFiles embed.FS

// file is one file of the page.
type file struct {
	contentType string
	etag        string // quoted
	text        []byte
}

// contentTypes returns the content types of the page's files, by extension.
func contentTypes() map[string]string {
	return map[string]string{
		".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
		".svg": "image/svg+xml", ".png": "image/png", ".ico": "image/x-icon", ".json": "application/json", ".txt": "text/plain; charset=utf-8",
	}
}

// readFiles reads the files of a page, by the path at which they are served. It
// omits files of other kinds, such as tests.
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
		out["/"+name] = &file{contentType: kind, etag: `"` + hex.EncodeToString(sum[:12]) + `"`, text: text}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the page: %w", err)
	}
	for path, name := range map[string]string{"/": "/index.html", EmbedPath: "/embed.html"} {
		if f := out[name]; f != nil {
			out[path] = f
		}
	}
	return out, nil
}

// serveFile answers with a file of the page.
func (s *Server) serveFile(w http.ResponseWriter, r *http.Request) {
	f := s.files[r.URL.Path]
	if f == nil {
		refuse(w, http.StatusNotFound, "nothing at "+r.URL.Path)
		return
	}
	if unchanged(w, r, f.etag) {
		return
	}
	w.Header().Set("Content-Type", f.contentType)
	_, _ = w.Write(f.text) // fails only where the client is gone
}
