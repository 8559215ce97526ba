// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"fmt"
	"net/http"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Frame is the one page that pages of other origins may have in a frame. Its policy names
// these origins; it has no header X-Frame-Options, which cannot name any.
type Frame struct {
	Path string
	// Ancestors are the origins, as CheckAncestor accepts them. If there are none, no
	// page may have it in a frame.
	Ancestors []string
}

// of reports whether a request is for a page that may be in a frame.
func (f *Frame) of(r *http.Request) bool { return len(f.Ancestors) > 0 && r.URL.Path == f.Path }

// secure changes the headers of the page that secure has set.
func (f *Frame) secure(h http.Header) {
	h.Set("Content-Security-Policy", strings.Replace(Policy, "frame-ancestors 'none'", "frame-ancestors "+strings.Join(f.Ancestors, " "), 1))
	h.Del("X-Frame-Options")
}

// origin is a scheme, a name or an IPv4 address, and a port. The name may begin with *. for
// all names below it.
var origin = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(https?)://(\*\.)?([a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*)(:([1-9][0-9]{0,4}))?$`)
})

// CheckAncestor returns an error unless a text is an origin that a Content-Security-Policy
// can name: http or https, a host, and a port if it is not that of the scheme. With https,
// *. may precede a host of two labels or more.
func CheckAncestor(text string) error {
	wrong := func(why string) error {
		return fmt.Errorf("%q: %s; expected an origin such as https://grafana.example, http://grafana.example:3000 or https://*.example.com", text, why)
	}
	m := origin().FindStringSubmatch(text)
	if m == nil {
		return wrong("not an origin")
	}
	scheme, below, host, port := m[1], m[2] != "", m[3], m[8]
	labels := strings.Split(host, ".")
	last := labels[len(labels)-1]
	_, err := netip.ParseAddr(host)
	switch {
	case last[0] >= '0' && last[0] <= '9' && (err != nil || below):
		return wrong("not a host name, nor an IPv4 address")
	case below && scheme != "https":
		return wrong("all names below one need https")
	case below && len(labels) < 2:
		return wrong("all names below a top-level domain")
	}
	if n, _ := strconv.Atoi(port); n > 65535 {
		return wrong("not a port")
	}
	return nil
}
