// SPDX-License-Identifier: Apache-2.0

// Package kubernetes is a telemetry source for the runs of a Kubernetes cluster: Jobs, Argo Workflows,
// Tekton Pipelines, and runners of Actions Runner Controller. It lists and watches objects and changes nothing.
//
//	API server ──► collection, one for each resource ──► changes ──► ledger ──► telemetry
//	             list and watch; run, pod: what is kept   by UID     poll
//
// A collection lists its resource once, object by object, and then watches it from the version
// of the list. After an error it watches again from the version that it reached, and it lists
// again if the server answers that this version is gone. Of an object it keeps what is needed,
// as a run or a pod.
//
// A poll asks the server nothing. It applies the changes since the last one:
//
//   - Flow. What was counted of each run that exists is in the state, by the run's UID, so that
//     neither a list nor a restart counts a step again. What existed before the adapter's first
//     start is not counted.
//   - Presence. The tokens are the steps that are open, and the runs that failed. What they wait
//     for is what the object itself says, or else what its pods do.
//
// # The net
//
// A net is what runs are made of, such as a CronJob; an instance is a run. Each step is a
// transition, which fires as the step succeeds, and a place, STEP/in. The transition "run
// started" fires as a run is created.
//
// # Time
//
// Ages are by the times in the objects, which have whole seconds. The server's clock is known by
// the header Date of its answers; see ledger.Clock.
//
// The tests with the tag peers run etcd, kube-apiserver, kube-controller-manager and
// kube-scheduler, which the nested module controlplane builds.
package kubernetes
