// SPDX-License-Identifier: Apache-2.0

//go:build peers

package kubernetes

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/internal/cachetest"
)

const workflowsPath = "/apis/argoproj.io/v1alpha1/namespaces/prod/workflows"

// argo starts the controller of Argo Workflows, and returns what kills it.
func (c *cluster) argo() (kill func()) {
	c.t.Helper()
	for plural, kind := range map[string]string{"workflows": "Workflow", "cronworkflows": "CronWorkflow", "workflowtemplates": "WorkflowTemplate", "workflowtaskresults": "WorkflowTaskResult",
		"workflowtasksets": "WorkflowTaskSet", "workfloweventbindings": "WorkflowEventBinding", "workflowartifactgctasks": "WorkflowArtifactGCTask"} {
		c.define("Namespaced", "argoproj.io", "v1alpha1", plural, kind)
	}
	c.define("Cluster", "argoproj.io", "v1alpha1", "clusterworkflowtemplates", "ClusterWorkflowTemplate")
	for _, name := range []string{"argo", "prod"} {
		c.do(http.MethodPost, "/api/v1/namespaces", item{"metadata": item{"name": name}})
	}
	c.do(http.MethodPost, "/api/v1/namespaces/argo/configmaps", item{"metadata": item{"name": "workflow-controller-configmap"}})
	c.t.Setenv("LEADER_ELECTION_DISABLE", "true")
	return c.startProgram(cachetest.WorkflowController().Path(c.t), "--kubeconfig="+c.file("admin.kubeconfig"), "--namespace=argo", "--executor-image=argoexec:1", "--loglevel=warn")
}

// workflow makes a Workflow with one template, and more in its spec.
func (c *cluster) workflow(name string, template, more item) {
	c.t.Helper()
	template["name"] = "main"
	spec := item{"entrypoint": "main", "templates": []item{template}}
	for key, v := range more {
		spec[key] = v
	}
	c.do(http.MethodPost, workflowsPath, item{"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": item{"name": name, "labels": item{labelName: name}}, "spec": spec})
}

// Workflows that the real controller plays are shown at the node, since the node's time and with the
// reason that the controller, or the scheduler, wrote.
func TestArgoWorkflows(t *testing.T) {
	c := newCluster(t)
	kill := c.argo()
	work := func() item {
		return item{"container": item{"image": "registry.invalid/none:1", "command": []string{"true"}}}
	}
	suspend := func() item { return item{"suspend": item{}} }
	mutex := item{"synchronization": item{"mutexes": []item{{"name": "db"}}}}
	c.workflow("holds", suspend(), mutex)
	eventually(t, func() string {
		if c.do(http.MethodGet, workflowsPath+"/holds", nil).text("status", "phase") != "Running" {
			return "the controller does not start a Workflow"
		}
		return ""
	})
	c.workflow("waits", suspend(), mutex)
	c.workflow("unschedulable", work(), item{})
	c.workflow("lost", work(), item{})
	c.workflow("stopped", work(), item{"suspend": true})
	path := "/api/v1/namespaces/prod/pods"
	eventually(t, func() string { // what the kubelet does; no executor reports the result, so the controller waits for it
		for _, p := range c.items(path + "?labelSelector=workflows.argoproj.io/workflow%3Dlost") {
			name := p.text("metadata", "name")
			terminated := item{"terminated": item{"exitCode": 0, "finishedAt": time.Now().UTC().Format(time.RFC3339)}}
			c.do(http.MethodPost, path+"/"+name+"/binding", item{"metadata": item{"name": name}, "target": item{"kind": "Node", "name": "node-1"}})
			c.do(http.MethodPatch, path+"/"+name+"/status", item{"status": item{"phase": "Running"}})
			kill() // before it sees the end of the pod
			c.do(http.MethodPatch, path+"/"+name+"/status", item{"status": item{"phase": "Succeeded", "containerStatuses": []item{{"name": "main", "image": "i", "imageID": "", "state": terminated}}}})
			return ""
		}
		return "the controller makes no pod"
	})
	a := c.adapter()
	for name, want := range map[string]struct{ step, why string }{
		"holds":         {"main", "manual: waits until it is resumed"},
		"waits":         {stepWorkflow, "enabled: waits for the lock prod/Mutex/db, which is held by prod/holds"},
		"unschedulable": {"main", "enabled: pod unschedulable is unschedulable since "},
		"lost":          {"main", "running: its pods ended at "},
		"stopped":       {stepWorkflow, "manual: suspended"},
	} {
		object := c.do(http.MethodGet, workflowsPath+"/"+name, nil)
		since := object.text("status", "startedAt")
		if since == "" {
			since = object.text("metadata", "creationTimestamp")
		}
		nodes, _ := object.at("status", "nodes").(map[string]any)
		for _, n := range nodes {
			since = item(n.(map[string]any)).text("startedAt")
		}
		until(t, a, func() string {
			n := a.nets["prod/workflow/"+name]
			tokens := a.tokens()[n]
			if n == nil || len(tokens) != 1 || len(tokens[0].Waits) != 1 {
				return fmt.Sprintf("%d tokens of %s", len(tokens), name)
			}
			w := tokens[0].Waits[0]
			got := w.Reason.String() + ": " + w.What
			if strings.HasPrefix(got, want.why) {
				got = want.why
			}
			return cmp.Diff([]string{want.step + in, since, want.why}, []string{n.Def.Places[tokens[0].Place].ID, clock(tokens[0].Since), got})
		})
	}
}
