// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/pnagent/pnagent/web/api"
)

const (
	viewText   = `{"at":"2026-03-01T08:00:00Z","generation":5,"nets":[{"id":"packaging"}],"traffic":{"messages":9}}`
	alarmsText = `{"active":[{"index":3,"alarm":"tokenStuck"}]}`
)

// sidecar answers with texts by path.
func sidecar(t *testing.T, pages map[string]string) api.Client {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if user, password, given := r.BasicAuth(); text == "locked" && (!given || user+password != "ada"+"secret") {
			w.WriteHeader(http.StatusUnauthorized)
			return
		} else if text == "locked" {
			text = viewText
		}
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(s.Close)
	t.Cleanup(s.Client().CloseIdleConnections)
	return api.Client{URL: s.URL + "/", HTTP: s.Client()}
}

func TestAClientAsksForTheViewAndTheAlarms(t *testing.T) {
	c := sidecar(t, map[string]string{"/api/v1/view": viewText, "/api/v1/alarms": alarmsText})
	v, a, err := FromSidecar(c)(t.Context())
	if err != nil || v.Generation != 5 || v.Nets[0].ID != "packaging" || a.Active[0].Index != 3 {
		t.Errorf("got %+v and %+v, error %v; want generation 5 with the net packaging and alarm 3", v, a, err)
	}
}

func TestAViewWithoutAlarmsIsStillOne(t *testing.T) {
	for name, page := range map[string]map[string]string{
		"not served": {"/api/v1/view": viewText},
		"no JSON":    {"/api/v1/view": viewText, "/api/v1/alarms": "<html>"},
	} {
		if v, a, err := FromSidecar(sidecar(t, page))(t.Context()); err != nil || v == nil || a != nil {
			t.Errorf("%s: got %v and %v, error %v; want a View without alarms", name, v, a, err)
		}
	}
}

func TestAnErrorSaysWhatIsWrong(t *testing.T) {
	gone := sidecar(t, nil)
	gone.URL = "http://127.0.0.1:1"
	for name, rule := range map[string]struct {
		c    api.Client
		want string
	}{
		"no listener":  {gone, "connection refused"},
		"not found":    {sidecar(t, nil), "404 Not Found"},
		"another page": {sidecar(t, map[string]string{"/api/v1/view": "{}"}), "expected the address of a sidecar"},
		"a password":   {sidecar(t, map[string]string{"/api/v1/view": "locked"}), "401 Unauthorized"},
	} {
		if _, _, err := FromSidecar(rule.c)(t.Context()); err == nil || !strings.Contains(err.Error(), rule.want) || strings.Contains(err.Error(), "http://") {
			t.Errorf("%s: %v, want %q and no address", name, err, rule.want)
		}
	}
}

func TestAPasswordMayBeInTheAddress(t *testing.T) {
	c := sidecar(t, map[string]string{"/api/v1/view": "locked"})
	c.URL = strings.Replace(c.URL, "http://", "http://ada:secret@", 1)
	if _, _, err := FromSidecar(c)(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestASidecarThatDoesNotAnswerIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := api.Client{URL: "http://sidecar", HTTP: &http.Client{Transport: silent{}}}
		if _, _, err := FromSidecar(c)(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got error %v; want context.DeadlineExceeded", err)
		}
	})
}

// silent never answers.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}
