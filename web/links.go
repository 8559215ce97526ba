// SPDX-License-Identifier: Apache-2.0

package web

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/web/api"
)

// Links are addresses that the page shows, each http or https; "" for none.
type Links struct {
	Runbooks string // of the folder with a page for each kind of alarm
	Grafana  string // see api.Links
}

// Check returns an error about an address that a browser would not open as a page.
func (l Links) Check() error {
	return errors.Join(checkLink(l.Runbooks), checkLink(l.Grafana))
}

func checkLink(text string) error {
	u, err := url.Parse(strings.NewReplacer("{", "", "}", "").Replace(text))
	if err != nil || text != "" && u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("address %q; expected one that begins with http:// or https://", text)
	}
	return nil
}

// document returns the links for JSON; nil if there are none.
func (l Links) document() *api.Links {
	if l == (Links{}) {
		return nil
	}
	d := &api.Links{Runbooks: map[string]string{}, Grafana: l.Grafana}
	if l.Runbooks != "" {
		for _, k := range alarm.Kinds() {
			d.Runbooks[k.String()] = strings.TrimSuffix(l.Runbooks, "/") + "/" + k.Runbook()
		}
	}
	return d
}
