// SPDX-License-Identifier: Apache-2.0
//
// The mixin form: what tools for mixins (mixtool, jsonnet-bundler,
// kube-prometheus) look for, made of the files beside this one.
{
  grafanaDashboards+:: {
    'pnagent-overview.json': (import 'grafana/overview.json'),
    'pnagent-net.json': (import 'grafana/net.json'),
    'pnagent-place.json': (import 'grafana/place.json'),
    'pnagent-sidecar.json': (import 'grafana/sidecar.json'),
    'pnagent-dispatch.json': (import 'grafana/dispatch.json'),
  },

  prometheusAlerts+:: std.parseYaml(importstr 'prometheus/alerts.yaml'),

  prometheusRules+:: std.parseYaml(importstr 'prometheus/recordings.yaml'),
}
