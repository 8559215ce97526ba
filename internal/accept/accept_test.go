// SPDX-License-Identifier: Apache-2.0

package accept

import (
	"net/http"
	"testing"
)

func TestGzipIsUsedWhereAClientAcceptsIt(t *testing.T) {
	for header, want := range map[string]bool{
		"":                    false,
		"gzip":                true,
		"GZIP":                true,
		"br, gzip":            true,
		"br,gzip;q=0.1,*":     true,
		"gzip; q=0":           false,
		"gzip;q=0.000":        false,
		"gzip;q=nonsense":     false,
		"xgzip":               false,
		"identity, deflate":   false,
		"deflate, gzip;q=0.5": true,
		"gzip;q=0.001":        true,
		"gzip;level=9;q=some": true, // parameters without a meaning
	} {
		if got := Gzip(http.Header{"Accept-Encoding": {header}}); got != want {
			t.Errorf("%q: %v, want %v", header, got, want)
		}
	}
}
