// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/prometheus/common/config"

	"github.com/pnagent/pnagent/internal/samehost"
)

// HTTPClient returns the client that a file describes, or one without settings for "".
// It follows redirects within a server only: whatever the client is for, credentials and
// questions are for the server that the user named.
func HTTPClient(file string) (*http.Client, error) {
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

// WithoutURL returns the cause of an error of parsing a URL, which may hold a
// password.
func WithoutURL(err error) error {
	if inner := (*url.Error)(nil); errors.As(err, &inner) {
		return fmt.Errorf("invalid URL: %w", inner.Err)
	}
	return err
}
