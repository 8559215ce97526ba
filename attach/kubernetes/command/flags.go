// SPDX-License-Identifier: Apache-2.0

// Package command is pnagent attach kubernetes: its flags, which every program has, and what they do.
package command

import (
	"github.com/pnagent/pnagent/attach/internal/poll"
	"github.com/pnagent/pnagent/cli"
)

// Command is pnagent attach kubernetes.
type Command struct {
	Kubernetes flags `cmd:"" help:"Watch Jobs, Argo Workflows, Tekton Pipelines and runners of a Kubernetes cluster, read-only, and publish which ones are stuck, since when and why."`
}

type flags struct {
	cli.FullOnly
	poll.Flags `embed:""`

	Kubeconfig string   `group:"Kubernetes" type:"path" placeholder:"FILE" help:"File that says how to reach the cluster. Default: the files that the environment variable KUBECONFIG names, ~/.kube/config, or in a pod its service account."`
	Context    string   `group:"Kubernetes" placeholder:"NAME" help:"Context of the kubeconfig. Default: its current one."`
	Namespaces []string `group:"Kubernetes" name:"namespace" help:"Namespaces, comma-separated. Default: all, for which the account needs a ClusterRole."`
	Kinds      []string `group:"Kubernetes" name:"kind" placeholder:"KIND" enum:"jobs,argo,tekton,arc" help:"What to watch, comma-separated: jobs (Jobs and CronJobs), argo (Argo Workflows), tekton (Tekton Pipelines), arc (Actions Runner Controller). Default: all of these that the cluster has."`
	Show       []string `placeholder:"WHAT" enum:"detail" help:"Data that may be about persons, to publish: detail (messages of failures, names of jobs of GitHub). Default: none."`
}
