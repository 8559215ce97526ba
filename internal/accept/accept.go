// SPDX-License-Identifier: Apache-2.0

// Package accept reads what a client accepts.
package accept

import (
	"net/http"
	"strconv"
	"strings"
)

// Gzip reports whether a client accepts gzip (RFC 9110 section 12.5.3).
func Gzip(h http.Header) bool {
	for _, line := range h.Values("Accept-Encoding") {
		for part := range strings.SplitSeq(line, ",") {
			coding, parameters, _ := strings.Cut(part, ";")
			if !strings.EqualFold(strings.TrimSpace(coding), "gzip") {
				continue
			}
			q, is := strings.CutPrefix(strings.ReplaceAll(parameters, " ", ""), "q=")
			weight, err := strconv.ParseFloat(q, 64)
			return !is || err == nil && weight > 0
		}
	}
	return false
}
