// SPDX-License-Identifier: Apache-2.0

package web

import (
	"compress/gzip"
	"encoding/json"
	"net/http"
	"strings"
)

// csp lets a page load what comes from here and nothing else.
const csp = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// secure sets what every answer has.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", csp)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// Secured gives the answers of another handler the headers that this package's
// have: they can be read by the page, and by no other site's.
func Secured(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secure(w.Header())
		h.ServeHTTP(w, r)
	})
}

// refuse answers with why not.
func refuse(w http.ResponseWriter, status int, why string) {
	text, _ := json.Marshal(map[string]string{"error": why}) // strings always marshal
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // fails only where nobody reads
}

// packFrom is from how many bytes on an answer is packed.
const packFrom = 1 << 10

// answer writes bytes that are as of now.
func answer(w http.ResponseWriter, r *http.Request, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	if w.Header().Get("Cache-Control") == "" {
		w.Header().Set("Cache-Control", "no-store")
	}
	w.Header().Set("Vary", "Accept-Encoding")
	if r.Method == http.MethodHead {
		return
	}
	if len(body) < packFrom || !takesGzip(r) {
		_, _ = w.Write(body) // fails only where nobody reads
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // the level is right
	_, _ = z.Write(body)
	_ = z.Close()
}

// answerJSON writes a document that is as of now.
func answerJSON(w http.ResponseWriter, r *http.Request, doc any) {
	text, err := json.Marshal(doc)
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	answer(w, r, "application/json", append(text, '\n'))
}

// takesGzip reports whether an answer may be packed.
func takesGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		coding, params, _ := strings.Cut(strings.TrimSpace(part), ";")
		if q := strings.ReplaceAll(params, " ", ""); coding == "gzip" && q != "q=0" && !strings.HasPrefix(q, "q=0.000") {
			return true
		}
	}
	return false
}

// unchanged answers 304 if the reader has what etag names.
func unchanged(w http.ResponseWriter, r *http.Request, etag string) bool {
	w.Header().Set("ETag", etag)
	w.Header().Set("Cache-Control", "no-cache")
	for part := range strings.SplitSeq(r.Header.Get("If-None-Match"), ",") {
		if p := strings.TrimPrefix(strings.TrimSpace(part), "W/"); p == etag || p == "*" {
			w.WriteHeader(http.StatusNotModified)
			return true
		}
	}
	return false
}
