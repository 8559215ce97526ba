// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/internal/samehost"
)

// The client of every command sends nothing to the server that another one redirects to: it
// would get the credentials, and its answer would stand for that of the first.
func TestNoClientFollowsARedirectToAnotherHost(t *testing.T) {
	var asked atomic.Uint64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer other.Close()
	first := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer first.Close()
	file := filepath.Join(t.TempDir(), "http.yaml")
	if err := os.WriteFile(file, []byte("basic_auth: {username: u, password: secret}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, config := range []string{"", file} {
		client, err := cli.HTTPClient(config)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Get(first.URL)
		if err == nil {
			_ = resp.Body.Close()
		}
		if !errors.Is(err, samehost.ErrAway) {
			t.Errorf("with the file %q: %v", config, err)
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the other server got %d requests", n)
	}
}
