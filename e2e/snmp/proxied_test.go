// SPDX-License-Identifier: Apache-2.0

//go:build peers

package snmp

import (
	"sync"

	"github.com/pnagent/pnagent/e2e/kit"
)

// snmpExporter builds in 20 seconds of a processor, and needs no cgo: its generator does.
var snmpExporter = sync.OnceValues(kit.Proxied{Module: "github.com/prometheus/snmp_exporter", Version: "v0.29.0",
	Command: "github.com/prometheus/snmp_exporter"}.Build)

// telegraf builds in 30 seconds of a processor, with the plugins that tests use.
var telegraf = sync.OnceValues(kit.Proxied{Module: "github.com/influxdata/telegraf", Version: "v1.37.2",
	Command: "github.com/influxdata/telegraf/cmd/telegraf", Tags: "custom,inputs.snmp,inputs.snmp_trap,processors.regex,outputs.file,serializers.influx"}.Build)
