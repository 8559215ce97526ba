// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/prometheus/common/config"

	"github.com/pnagent/pnagent/internal/samehost"
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
		return nil, usageError{fmt.Errorf("%s: %w; expected http://HOST:PORT or https://HOST:PORT", flag, withoutURL(err))}
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, usageError{fmt.Errorf("%s: %s; expected http://HOST:PORT or https://HOST:PORT", flag, u.Redacted())}
	}
	return httpClient(f.HTTPConfig)
}

// httpClient returns the client that a file describes, or one without settings for "".
// It follows redirects within a server only: whatever the client is for, credentials and
// questions are for the server that the user named.
func httpClient(file string) (*http.Client, error) {
	if file == "" {
		return &http.Client{CheckRedirect: samehost.Redirect}, nil
	}
	cfg, _, err := config.LoadHTTPConfigFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	client, err := config.NewClientFromConfig(*cfg, "pnagent")
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	if client.CheckRedirect == nil { // otherwise the file says follow_redirects: false
		client.CheckRedirect = samehost.Redirect
	}
	return client, nil
}

// shown returns the URL without a password in it.
func (f *apiFlags) shown() string {
	u, err := url.Parse(f.URL)
	if err != nil {
		return ""
	}
	return u.Redacted()
}

// withoutURL returns the cause of an error of parsing a URL, which may hold a
// password.
func withoutURL(err error) error {
	if inner := (*url.Error)(nil); errors.As(err, &inner) {
		return fmt.Errorf("invalid URL: %w", inner.Err)
	}
	return err
}
