// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"

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
	wrap, err := gzhttp.NewWrapper(gzhttp.MinSize(packFrom), gzhttp.CompressionLevel(gzip.BestSpeed))
	if err != nil {
		panic(err) // the options are constants
	}
	return wrap(h)
}

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
