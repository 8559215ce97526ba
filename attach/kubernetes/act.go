// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"strings"

	"github.com/pnagent/pnagent/act"
	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// command returns the command line with which a person resumes or tries again what a token waits
// for, or looks at it.
func command(net *petri.Net, t *ledger.Token, w stats.Wait) string {
	_, of, _ := strings.Cut(net.ID, "/")
	kind, from, _ := strings.Cut(of, "/")
	namespace, name, _ := strings.Cut(t.Instance, "/")
	resume, retry := "", ""
	switch kind {
	case "job", "cronjob":
		kind, resume = "job", ` patch job %s --type merge -p '{"spec":{"suspend":false}}'`
		if of == "cronjob/"+from {
			retry = " create job %s-again --from cronjob/" + act.Quote(from)
		}
	case "pipeline", "task":
		kind += "run"
		if net.Places[t.Place].ID == stepPipeline+in { // and not in a task, such as one that waits for an approval
			resume = ` patch pipelinerun %s --type merge -p '{"spec":{"status":""}}'`
		}
	case "autoscalingrunnerset":
		kind, retry = "ephemeralrunner", " delete ephemeralrunner %s" // its set makes another one
	default:
		if w.Reason == stats.ReasonManual {
			return "argo -n " + act.Quote(namespace) + " resume " + act.Quote(name)
		}
		if w.Reason == stats.ReasonIncident {
			return "argo -n " + act.Quote(namespace) + " retry " + act.Quote(name)
		}
		kind = "workflow"
	}
	line := " describe " + kind + " %s"
	if w.Reason == stats.ReasonManual && resume != "" {
		line = resume
	}
	if w.Reason == stats.ReasonIncident && retry != "" {
		line = retry
	}
	return "kubectl -n " + act.Quote(namespace) + strings.Replace(line, "%s", act.Quote(name), 1)
}
