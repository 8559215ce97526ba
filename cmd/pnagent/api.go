// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/pnagent/pnagent/cli"
)

// apiFlags say where a sidecar's HTTP API is and how to get in. The file is the
// one that promtool takes under the same name.
type apiFlags struct {
	URL        string `name:"url" default:"http://127.0.0.1:9797" help:"Address of the sidecar's HTTP server: a URL, or HOST:PORT."`
	HTTPConfig string `name:"http.config.file" placeholder:"FILE" help:"YAML file with HTTP client settings, in promtool's format: basic_auth, authorization, tls_config, proxy_url."`
}

// client returns an HTTP client for the flags.
func (f *apiFlags) client() (*http.Client, error) { return f.clientOf("--url") }

// clientOf is client where the URL is that of another flag.
func (f *apiFlags) clientOf(flag string) (*http.Client, error) {
	if !strings.Contains(f.URL, "://") { // HOST:PORT
		f.URL = "http://" + f.URL
	}
	u, err := url.Parse(f.URL)
	if err != nil {
		return nil, cli.Usage(fmt.Errorf("%s: %w; expected http://HOST:PORT or https://HOST:PORT", flag, cli.WithoutURL(err)))
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, cli.Usage(fmt.Errorf("%s: %s; expected http://HOST:PORT or https://HOST:PORT", flag, u.Redacted()))
	}
	return cli.HTTPClient(f.HTTPConfig)
}

// shown returns the URL without a password in it.
func (f *apiFlags) shown() string {
	u, err := url.Parse(f.URL)
	if err != nil {
		return ""
	}
	return u.Redacted()
}
