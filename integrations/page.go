// SPDX-License-Identifier: Apache-2.0

package integrations

import "strings"

// readme returns the page of a tool. In its text ROOT is the root of the OIDs.
func (s *site) readme(name, text string) File {
	text = strings.ReplaceAll(text, "ROOT", s.Root.String())
	return File{Path: name + "/README.md", Content: []byte(strings.ReplaceAll(text, "~", "`"))}
}

const exporterPage = `# Prometheus' snmp_exporter reads pnagent

Where Prometheus can reach the sidecar itself, let it scrape that: it has histograms, which SNMP has not.

| file | for |
|---|---|
| ~snmp.yml~ | snmp_exporter 0.25 and later: rates need ~scale~ |
| ~snmp-0.22.yml~ | snmp_exporter before 0.23, such as Debian 12's 0.21; without the rates of the last minutes, for which Prometheus has ~rate()~ |

1. Put the passphrases of the user ~noc~, or a community, into the file.
2. Start ~snmp_exporter --config.file snmp.yml~.
3. Have Prometheus scrape ~/snmp?target=HOST:161&auth=noc&module=petrinet~; before 0.23 without ~auth~:

~~~
scrape_configs:
  - job_name: petrinet-snmp
    scrape_interval: 30s
    metrics_path: /snmp
    params: {auth: [noc], module: [petrinet]}
    static_configs: [{targets: ['HOST:161']}]
    relabel_configs:
      - {source_labels: [__address__], target_label: __param_target}
      - {source_labels: [__param_target], target_label: instance}
      - {target_label: __address__, replacement: 'localhost:9116'}
~~~

Labels are ~pnNetName~, ~pnPlaceId~, ~pnTransitionId~ and ~pnSourceName~; the numbers of rows never change.
Tried with 0.21.0 and 0.29.0, over encrypted walks. All OIDs are below ROOT.
`
