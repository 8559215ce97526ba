// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"slices"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// brand begins the title of each dashboard.
const brand = "pnagent / "

// links returns the links to the other dashboards, with the same time and choice.
func (d *Dashboard) links() (links []cog.Builder[dashboard.DashboardLink]) {
	for _, other := range All() {
		if other.UID == d.UID {
			continue
		}
		url := "/d/" + other.UID + "?${datasource:queryparam}&${job:queryparam}&${instance:queryparam}"
		for _, v := range other.Variables {
			if d.passes(v) {
				url += "&${" + v.Name + ":queryparam}"
			}
		}
		links = append(links, built[dashboard.DashboardLink]{dashboard.DashboardLink{Title: strings.TrimPrefix(other.Title, brand),
			Type: dashboard.DashboardLinkTypeLink, Url: &url, Tooltip: other.Description, KeepTime: true}})
	}
	return links
}

// passes reports whether the choice of d can be that of the variable of another dashboard. All
// or several are no choice of one: Grafana would look for a net of the name $__all.
func (d *Dashboard) passes(to Variable) bool {
	return slices.ContainsFunc(d.Variables, func(v Variable) bool { return v.Name == to.Name && (to.Multi || !v.Multi) })
}
