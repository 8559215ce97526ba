// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/web/api"
)

// apiFlags say where a sidecar's HTTP API is and how to get in. The file is the
// one that promtool takes under the same name.
type apiFlags struct {
	URL        string `name:"url" default:"http://127.0.0.1:9797" help:"Address of the sidecar's HTTP server: a URL, or HOST:PORT."`
	HTTPConfig string `name:"http.config.file" placeholder:"FILE" help:"YAML file with HTTP client settings, in promtool's format: basic_auth, authorization, tls_config, proxy_url."`
}

// client returns a client of the sidecar.
func (f *apiFlags) client() (api.Client, error) {
	client, err := f.clientOf("url", "http.config.file")
	return api.Client{URL: f.URL, HTTP: client}, err
}

// clientOf returns an HTTP client for the flags, which may have other names.
func (f *apiFlags) clientOf(flag, settings string) (*http.Client, error) {
	if !strings.Contains(f.URL, "://") { // HOST:PORT
		f.URL = "http://" + f.URL
	}
	u, err := url.Parse(f.URL)
	if err != nil {
		return nil, cli.Wrong(flag, "%w; expected http://HOST:PORT or https://HOST:PORT", cli.WithoutURL(err))
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, cli.Wrong(flag, "%s; expected http://HOST:PORT or https://HOST:PORT", u.Redacted())
	}
	client, err := cli.HTTPClient(f.HTTPConfig)
	return client, cli.OfFlag(settings, err)
}

// shown returns the URL without a password in it.
func (f *apiFlags) shown() string {
	u, err := url.Parse(f.URL)
	if err != nil {
		return ""
	}
	return u.Redacted()
}
