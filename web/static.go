// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"github.com/pnagent/pnagent/internal/accept"
)

// EmbedPath is the path of the page for frames: one drawing or the alarms, without
// anything that acts.
const EmbedPath = "/embed"

// Scripts and style sheets are served as one file each, see bundle.
//
//go:generate go run -C bundle .
//go:embed dist page/*.html page/icon.svg page/vendor
var pageFiles embed.FS

// assets is the path below which the page loads its files, after the digest of all of
// them: what is there never changes.
const assets = "/assets/"

// forever is the Cache-Control of what is asked for by its digest.
const forever = "max-age=31536000, immutable"

// file is one file of the page. It is immutable.
type file struct {
	contentType string
	text        []byte
	packed      bool // text is compressed by gzip
}

// site is the page: its documents and what they load.
type site struct {
	digest    string           // of all files, in hexadecimal
	documents map[string]*file // by path
	files     map[string]*file // by path; below assets and the digest too
}

// contentTypes returns the content types of the page's files, by extension.
func contentTypes() map[string]string {
	return map[string]string{
		".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
		".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8",
	}
}

// readSite reads the files of the page in folders. It omits files of other kinds, such as
// programs. One whose name ends in .gz is packed, and is served under the name before that: so
// the program is smaller by half a megabyte, and only a client that does not accept gzip makes it unpack one.
func readSite(from fs.FS, folders ...string) (*site, error) {
	s, types, sum := &site{documents: map[string]*file{}, files: map[string]*file{}}, contentTypes(), sha256.New()
	for _, folder := range folders {
		err := fs.WalkDir(from, folder, func(name string, d fs.DirEntry, err error) error {
			at := strings.TrimSuffix(strings.TrimPrefix(name, folder), ".gz")
			kind := types[path.Ext(at)]
			if err != nil || d.IsDir() || kind == "" {
				return err
			}
			text, err := fs.ReadFile(from, name)
			if err != nil {
				return err
			}
			fmt.Fprintf(sum, "%s %d\n%s", at, len(text), text)
			s.files[at] = &file{contentType: kind, text: text, packed: path.Ext(name) == ".gz"}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read the page: %w", err)
		}
	}
	s.digest = hex.EncodeToString(sum.Sum(nil)[:12])
	for document, at := range map[string]string{"/index.html": "/", "/embed.html": EmbedPath} {
		f := s.files[document]
		if f == nil {
			return nil, fmt.Errorf("read the page: it has no %s", document)
		}
		f.text = []byte(strings.ReplaceAll(string(f.text), `="`+assets[1:], `="`+assets[1:]+s.digest+"/"))
		s.documents[document], s.documents[at] = f, f
		delete(s.files, document)
	}
	return s, nil
}

// unpacked returns the text of a file.
func (f *file) unpacked() ([]byte, error) {
	if !f.packed {
		return f.text, nil
	}
	text, err := gzip.NewReader(bytes.NewReader(f.text))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(text)
}

// find returns what is at a path, and its Cache-Control, or nil. A page of another
// version, which stays open, asks for a file by another digest: it gets the file of this one.
func (s *site) find(at string) (f *file, cache string) {
	if f = s.documents[at]; f != nil {
		return f, ""
	}
	if named, ok := strings.CutPrefix(at, assets); ok {
		digest, name, _ := strings.Cut(named, "/")
		at = "/" + name
		if digest == s.digest {
			cache = forever
		}
	}
	return s.files[at], cache
}

// serveFile answers with a file of the page.
func (s *Server) serveFile(w http.ResponseWriter, r *http.Request) {
	f, cache := s.site.find(r.URL.Path)
	if f == nil {
		refuse(w, http.StatusNotFound, "nothing at "+r.URL.Path)
		return
	}
	if cache != "" {
		w.Header().Set("Cache-Control", cache)
	}
	if unchanged(w, r, `"`+s.site.digest+`"`) {
		return
	}
	text := f.text
	if f.packed && accept.Gzip(r.Header) {
		w.Header().Set("Content-Encoding", "gzip")
	} else {
		var err error
		text, err = f.unpacked()
		if err != nil {
			refuse(w, http.StatusInternalServerError, err.Error())
			return
		}
	}
	w.Header().Set("Content-Type", f.contentType)
	_, _ = w.Write(text) // fails only where the client is gone
}
