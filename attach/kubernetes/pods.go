// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/pnagent/pnagent/stats"
)

// pod is what is kept of a pod.
type pod struct {
	id   string
	key  string // that steps name it by
	name string
	why        // while it runs
	end  int64 // when its last container ended; 0 while it runs
	bad  bool  // it ended by a failure
}

func (p *pod) uid() string { return p.id }

// container is the status of a container.
type container struct {
	Name     string `json:"name"`
	Image    string `json:"image"`
	Restarts int    `json:"restartCount"`
	State    struct {
		Waiting *struct {
			Reason string `json:"reason"`
		} `json:"waiting"`
		Running *struct {
			StartedAt stamp `json:"startedAt"`
		} `json:"running"`
		Terminated *ending `json:"terminated"`
	} `json:"state"`
	Last struct {
		Terminated *ending `json:"terminated"`
	} `json:"lastState"`
}

// ending is how a container ended.
type ending struct {
	Reason     string `json:"reason"`
	ExitCode   int    `json:"exitCode"`
	FinishedAt stamp  `json:"finishedAt"`
}

// podDocument is what is read of a pod.
type podDocument struct {
	Metadata metadata `json:"metadata"`
	Spec     struct {
		NodeName string `json:"nodeName"`
	} `json:"spec"`
	Status struct {
		Phase      string      `json:"phase"`
		Reason     string      `json:"reason"`
		StartTime  stamp       `json:"startTime"`
		Conditions conditions  `json:"conditions"`
		Init       []container `json:"initContainerStatuses"`
		Containers []container `json:"containerStatuses"`
	} `json:"status"`
}

// podsWith returns the pods that have a label. key returns the key that steps name them by.
func podsWith(label string, key func(*metadata) string) resource {
	return resource{name: "pods with " + label, version: "v1", plural: "pods", selectors: url.Values{"labelSelector": {label}},
		read: func(text json.RawMessage) (object, error) { return readPod(text, key) }}
}

// named returns the key of a pod that its step names.
func named(m *metadata) string { return "pod " + m.instance() }

// readPod reads a pod; key returns the key that steps name it by.
func readPod(text json.RawMessage, key func(*metadata) string) (object, error) {
	var d podDocument
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("a Pod: %w", err)
	}
	p := &pod{id: d.Metadata.UID, key: key(&d.Metadata), name: d.Metadata.Name}
	if d.Status.Phase == "Succeeded" || d.Status.Phase == "Failed" {
		p.end, p.bad = d.ended(), d.Status.Phase == "Failed"
	} else {
		p.why = d.waits()
		p.text = strings.Clone(stats.Clip(p.text, stats.MaxWhat))
	}
	return p, d.Metadata.check()
}

// ended returns when the last container ended, or the last condition changed of a pod whose
// containers did not start.
func (d *podDocument) ended() int64 {
	last := stamp(0)
	for _, c := range slices.Concat(d.Status.Init, d.Status.Containers) {
		if c.State.Terminated != nil {
			last = max(last, c.State.Terminated.FinishedAt)
		}
	}
	if last == 0 {
		last = d.Metadata.Created
		for _, c := range d.Status.Conditions {
			last = max(last, c.Since)
		}
	}
	return int64(last)
}

// waits returns what a pod waits for that has not ended.
func (d *podDocument) waits() why {
	name := "pod " + d.Metadata.Name
	for _, c := range d.Status.Conditions {
		if c.Type != "PodScheduled" || c.Status == "True" {
			continue
		}
		switch c.Reason {
		case "Unschedulable":
			return why{reason: stats.ReasonEnabled, text: colon(name+" is unschedulable since "+clock(int64(c.Since)), c.Message)}
		case "SchedulingGated":
			return why{reason: stats.ReasonEnabled, text: name + " has scheduling gates"}
		}
	}
	if d.Spec.NodeName == "" {
		return why{reason: stats.ReasonEnabled, text: name + " waits for the scheduler"}
	}
	for _, c := range slices.Concat(d.Status.Init, d.Status.Containers) {
		if c.State.Waiting != nil {
			if w := c.waits(name); w.text != "" {
				return w
			}
		}
	}
	where := " on node " + d.Spec.NodeName
	if d.Status.Phase == "Running" {
		return why{reason: stats.ReasonRunning, text: name + " runs since " + clock(int64(d.Status.StartTime)) + where}
	}
	return why{reason: stats.ReasonRunning, text: name + " starts" + where}
}

// waits returns what a container waits for that does not run: nothing if it only starts.
func (c *container) waits(pod string) why {
	switch reason := c.State.Waiting.Reason; reason {
	case "", "ContainerCreating", "PodInitializing":
		return why{}
	case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "RegistryUnavailable", "ImageInspectError":
		return why{reason: stats.ReasonIncident, text: fmt.Sprintf("%s: the image %s cannot be pulled: %s", pod, c.Image, reason)}
	case "CrashLoopBackOff":
		last := ""
		if e := c.Last.Terminated; e != nil {
			last = fmt.Sprintf("%s, exit code %d, at %s", e.Reason, e.ExitCode, clock(int64(e.FinishedAt)))
		}
		return why{reason: stats.ReasonEnabled, text: colon(fmt.Sprintf("%s: container %s ended %d times and waits to start again", pod, c.Name, c.Restarts), last)}
	default:
		return why{reason: stats.ReasonIncident, text: fmt.Sprintf("%s: container %s: %s", pod, c.Name, reason)}
	}
}
