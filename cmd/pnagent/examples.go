// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// groups are those of the commands in the help, by what users come for.
func groups() []kong.Group {
	return []kong.Group{
		{Key: "see", Title: "See where processes stand, and act on them:"},
		{Key: "attach", Title: "Attach engines, or run one:"},
		{Key: "sidecar", Title: "Set up and run a sidecar, and what reads it:"},
		{Key: "model", Title: "Work on models of processes:"},
		{Key: "maintain", Title: "Maintain:"},
	}
}

// environmentRule is the last paragraph of each help text.
const environmentRule = `
Each flag has an environment variable: PNAGENT_ and its name in upper case with _ for - and ., such as
PNAGENT_LOG_LEVEL for --log.level. A flag overrides its variable, and a variable overrides the key in
the configuration file of serve. Set secrets by files or variables: any user of the machine can read flags.
`

// help prints the help of a command.
func help(options kong.HelpOptions, k *kong.Context) error {
	if err := kong.DefaultHelpPrinter(options, k); err != nil {
		return err
	}
	_, err := fmt.Fprint(k.Stdout, environmentRule)
	return err
}

// addExamples adds to the help of each command its example.
func addExamples(k *kong.Kong) error {
	for _, command := range k.Model.Leaves(false) {
		path := strings.TrimPrefix(command.FullPath(), k.Model.Name+" ")
		if example, ok := examplesByCommand()[path]; ok {
			command.Detail = strings.TrimSpace(command.Detail + "\n\nExample: pnagent " + path + example)
		}
	}
	return nil
}

// examplesByCommand are what stands behind each command in its example.
func examplesByCommand() map[string]string {
	return map[string]string{
		"demo":              " --for 10m --http 127.0.0.1:9797",
		"serve":             " --nats nats://nats.example.org --agentx unix:/var/agentx/master --oid-root 1.3.6.1.4.1.64512.1 orders.pnml",
		"engine":            " --instances 100 --source berlin --bindings bindings.yaml orders.pnml",
		"regions":           " orders.pnml",
		"fire":              " orders berlin/48 ship",
		"inject":            " orders berlin/48 inbox 3",
		"retry":             " orders berlin/48 ship --dry-run",
		"attach lines":      " --follow events.json orders.pnml",
		"attach scrape":     " --mapping rabbitmq http://127.0.0.1:15692/metrics/detailed",
		"attach dipen":      " --etcd http://127.0.0.1:2379",
		"attach sql":        " --mapping camunda7 --dsn-file camunda.dsn",
		"attach temporal":   " --address 127.0.0.1:7233",
		"attach camunda8":   " --url http://127.0.0.1:8080",
		"attach redis":      " --system bullmq --address 127.0.0.1:6379",
		"attach kubernetes": " --namespace batch",
		"permissions":       " --source berlin --net orders",
		"wire check":        " --nats nats://127.0.0.1:4222",
		"journal check":     " journal orders.pnml",
		"journal repair":    " --to 4711 --out journal.copy journal",
		"check":             " --explore 100000 orders.pnml",
		"play":              " orders.pnml",
		"simulate":          " --bindings bindings.yaml --for 30d orders.pnml",
		"draw":              " orders.bpmn",
		"convert":           " --output orders.dot orders.pnml",
		"mib":               " --dir mibs --oid-root 1.3.6.1.4.1.64512.1 orders.pnml",
		"dump":              " --url http://127.0.0.1:9797",
		"alarms list":       " --severity major",
		"alarms ack":        " 17 18",
		"alarms unack":      " 17",
		"alarms close":      " 17",
		"alarms silence":    " --for 2h --net orders",
		"alarms unsilence":  " 3",
		"alarms suggest":    " --prometheus http://127.0.0.1:9090 --since 14d",
		"top":               " --url http://127.0.0.1:9797",
		"report":            " --prometheus http://127.0.0.1:9090 --since 7d --output week.html",
		"dashboards":        " --dir dashboards",
		"integrations":      " zabbix --dir integrations",
		"doctor":            " --nats nats://nats.example.org --agentx unix:/var/agentx/master",
		"check-config":      " pnagent.yml",
		"version":           "",
		"completion":        " bash",
	}
}
