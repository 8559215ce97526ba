// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bytes"
	"net/http"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"

	"github.com/pnagent/pnagent/internal/accept"
	"github.com/pnagent/pnagent/web/api"
)

// refuse answers with an error.
func refuse(w http.ResponseWriter, status int, why string) {
	text := encoded(api.Error{Error: why})
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // fails only if the client is gone
}

// packFrom is the size in bytes from which an answer is compressed.
const packFrom = 1 << 10

// compressed compresses answers for clients that accept it.
func compressed(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept-Encoding")
		if !accept.Gzip(r.Header) {
			h.ServeHTTP(w, r)
			return
		}
		p := &packer{ResponseWriter: w, status: http.StatusOK}
		defer p.end()
		h.ServeHTTP(p, r)
	})
}

// packer compresses an answer if its first write is of packFrom bytes or more, unless it is
// encoded already. The header is sent with that write.
type packer struct {
	http.ResponseWriter
	status int
	sent   bool
	zip    *gzip.Writer // nil for an answer that is not compressed
}

// Unwrap is for http.ResponseController.
func (p *packer) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (p *packer) WriteHeader(status int) { p.status = status }

// Write implements io.Writer.
func (p *packer) Write(text []byte) (int, error) {
	if header := p.Header(); !p.sent && len(text) >= packFrom && header.Get("Content-Encoding") == "" {
		header.Set("Content-Encoding", "gzip")
		header.Del("Content-Length")
		p.zip = zips.Get().(*gzip.Writer)
		p.zip.Reset(p.ResponseWriter)
	}
	p.send()
	if p.zip != nil {
		return p.zip.Write(text)
	}
	return p.ResponseWriter.Write(text)
}

// send sends the header.
func (p *packer) send() {
	if !p.sent {
		p.ResponseWriter.WriteHeader(p.status)
	}
	p.sent = true
}

// end writes what is left.
func (p *packer) end() {
	p.send()
	if p.zip != nil {
		_ = p.zip.Close() // fails only where the client is gone
		zips.Put(p.zip)
	}
}

// zips has writers, each of which takes most of a megabyte.
var zips = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // fails only for an invalid level
	return w
}}

// answer writes a document that must not be cached.
func answer(w http.ResponseWriter, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	if w.Header().Get("Cache-Control") == "" {
		w.Header().Set("Cache-Control", "no-store")
	}
	_, _ = w.Write(body) // fails only where the client is gone
}

// answerJSON writes a JSON document that must not be cached.
func answerJSON(w http.ResponseWriter, doc any) {
	var text bytes.Buffer
	if err := api.Encode(&text, doc); err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	answer(w, "application/json", text.Bytes())
}

// unchanged answers 304 if the client has the version that etag names. The client asks
// for it each time, unless the header has another Cache-Control already.
func unchanged(w http.ResponseWriter, r *http.Request, etag string) bool {
	w.Header().Set("ETag", etag)
	if w.Header().Get("Cache-Control") == "" {
		w.Header().Set("Cache-Control", "no-cache")
	}
	for part := range strings.SplitSeq(r.Header.Get("If-None-Match"), ",") {
		if p := strings.TrimPrefix(strings.TrimSpace(part), "W/"); p == etag || p == "*" {
			w.WriteHeader(http.StatusNotModified)
			return true
		}
	}
	return false
}
