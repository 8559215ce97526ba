// SPDX-License-Identifier: Apache-2.0

//go:build peers

package kubernetes

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/pnagent/pnagent/attach/internal/enginetest"
	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/internal/natstest"
)

const jobsPath, podsPath = "/apis/batch/v1/namespaces/shop/jobs", "/api/v1/namespaces/shop/pods"

// eventually waits until check returns "", which otherwise says what is missing.
func eventually(t *testing.T, check func() string) {
	t.Helper()
	end := time.Now().Add(2 * time.Minute)
	for {
		missing := check()
		if missing == "" {
			return
		}
		if time.Now().After(end) {
			t.Fatal(missing)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// apply makes the objects of a manifest that is in the tree, of some kinds.
func (c *cluster) apply(path string, collections map[string]string) {
	c.t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, document := range strings.Split(string(text), "\n---\n") {
		var o item
		if err := yaml.Unmarshal([]byte(document), &o); err != nil {
			c.t.Fatal(err)
		}
		if to := collections[o.text("kind")]; to != "" {
			c.do(http.MethodPost, to, o)
		}
	}
}

// account makes the account of the manifest in the documents, and returns a kubeconfig with a
// file of its token.
func (c *cluster) account() string {
	c.t.Helper()
	c.do(http.MethodPost, "/api/v1/namespaces", item{"metadata": item{"name": "pnagent"}})
	const rbac = "/apis/rbac.authorization.k8s.io/v1/"
	c.apply("../../examples/kubernetes/attach.yaml", map[string]string{"ServiceAccount": "/api/v1/namespaces/pnagent/serviceaccounts",
		"ClusterRole": rbac + "clusterroles", "ClusterRoleBinding": rbac + "clusterrolebindings"})
	answer := c.do(http.MethodPost, "/api/v1/namespaces/pnagent/serviceaccounts/pnagent-attach/token", item{"spec": item{}})
	if err := os.WriteFile(c.file("token"), []byte(answer.text("status", "token")), 0o600); err != nil {
		c.t.Fatal(err)
	}
	return c.kubeconfig("pnagent", map[string]any{"tokenFile": c.file("token")})
}

// job makes a Job, or one that kubectl create job --from makes of a CronJob.
func (c *cluster) job(namespace, name, cron string, spec item) item {
	c.t.Helper()
	spec["template"] = item{"spec": item{"restartPolicy": "Never", "containers": []item{{"name": "main", "image": "registry.invalid/none:1", "resources": item{"requests": item{"cpu": "1"}}}}}}
	meta := item{"name": name, "labels": item{"app.kubernetes.io/name": name}}
	if cron != "" {
		owner := c.do(http.MethodGet, "/apis/batch/v1/namespaces/"+namespace+"/cronjobs/"+cron, nil)
		meta["ownerReferences"] = []item{{"apiVersion": "batch/v1", "kind": "CronJob", "name": cron, "uid": owner.text("metadata", "uid"), "controller": true}}
	}
	return c.do(http.MethodPost, "/apis/batch/v1/namespaces/"+namespace+"/jobs", item{"metadata": meta, "spec": spec})
}

// cronJob makes a CronJob.
func (c *cluster) cronJob(name, schedule string) {
	c.t.Helper()
	c.do(http.MethodPost, "/apis/batch/v1/namespaces/shop/cronjobs", item{"metadata": item{"name": name}, "spec": item{"schedule": schedule,
		"jobTemplate": item{"spec": item{"template": item{"spec": item{"restartPolicy": "Never", "containers": []item{{"name": "main", "image": "registry.invalid/none:1"}}}}}}}})
}

// pod waits for the pod of a Job, and returns its name.
func (c *cluster) pod(job string) (name string) {
	c.t.Helper()
	eventually(c.t, func() string {
		for _, p := range c.items(podsPath + "?labelSelector=job-name%3D" + job) {
			name = p.text("metadata", "name")
			return ""
		}
		return "Job " + job + " has no pod"
	})
	return name
}

// kubelet sets the status of a pod, as the kubelet of a node does that runs it.
func (c *cluster) kubelet(pod string, status item) {
	c.t.Helper()
	if c.do(http.MethodGet, podsPath+"/"+pod, nil).text("spec", "nodeName") == "" {
		c.do(http.MethodPost, podsPath+"/"+pod+"/binding", item{"metadata": item{"name": pod}, "target": item{"kind": "Node", "name": "node-1"}})
	}
	c.do(http.MethodPatch, podsPath+"/"+pod+"/status", item{"status": status})
}

// ends has the pod of a Job end with an exit code.
func (c *cluster) ends(job string, code int) {
	c.t.Helper()
	phase := map[bool]string{true: "Succeeded", false: "Failed"}[code == 0]
	c.kubelet(c.pod(job), item{"phase": phase, "containerStatuses": []item{{"name": "main", "image": "registry.invalid/none:1", "imageID": "",
		"state": item{"terminated": item{"exitCode": code, "finishedAt": time.Now().UTC().Format(time.RFC3339)}}}}})
}

// stuckThere are the Jobs that are stuck: their nets and why, word for word but for times.
var stuckThere = map[string]struct{ net, why string }{
	"suspended":     {"shop/job/suspended", "manual: suspended"},
	"unschedulable": {"shop/job/unschedulable", "enabled: pod POD is unschedulable since 2026-01-01T00:00:00Z: no nodes available to schedule pods"},
	"pull":          {"shop/job/pull", "incident: pod POD: the image registry.invalid/none:1 cannot be pulled: ImagePullBackOff"},
	"runs":          {"shop/cronjob/nightly", "running: pod POD runs since 2026-01-01T00:00:00Z on node node-1"},
	"failed":        {"shop/job/failed", "incident: BackoffLimitExceeded: Job has reached the specified backoff limit"},
	"over":          {"full/job/over", `enabled: no pod can be created: exceeded quota: none, requested: pods=1, used: pods=0, limited: pods=0`},
}

// makeStuck makes the Jobs that are stuck.
func (c *cluster) makeStuck() {
	c.t.Helper()
	for _, name := range []string{"shop", "full"} {
		c.do(http.MethodPost, "/api/v1/namespaces", item{"metadata": item{"name": name}})
	}
	c.cronJob("nightly", "0 3 1 1 *")
	c.do(http.MethodPost, "/api/v1/namespaces/full/resourcequotas", item{"metadata": item{"name": "none"}, "spec": item{"hard": item{"pods": "0"}}})
	eventually(c.t, func() string {
		quota := c.do(http.MethodGet, "/api/v1/namespaces/full/resourcequotas/none", nil)
		if quota.text("status", "hard", "pods") != "0" {
			return "the quota has no status"
		}
		return ""
	})
	c.job("full", "over", "", item{})
	c.job("shop", "suspended", "", item{"suspend": true})
	for _, name := range []string{"unschedulable", "pull"} {
		c.job("shop", name, "", item{})
	}
	c.job("shop", "failed", "", item{"backoffLimit": 0})
	c.job("shop", "runs", "nightly", item{})
	now := time.Now().UTC().Format(time.RFC3339)
	c.kubelet(c.pod("pull"), item{"phase": "Pending", "startTime": now, "containerStatuses": []item{{"name": "main", "image": "registry.invalid/none:1", "imageID": "", "state": item{"waiting": item{"reason": "ImagePullBackOff"}}}}})
	c.kubelet(c.pod("runs"), item{"phase": "Running", "startTime": now, "containerStatuses": []item{{"name": "main", "image": "registry.invalid/none:1", "imageID": "", "state": item{"running": item{"startedAt": now}}}}})
	c.ends("failed", 1)
}

// held returns the Jobs that are stuck and since when, and why, by the API of the cluster; or
// what is missing.
func (c *cluster) held() (out []enginetest.Held, whys map[string][]enginetest.Why, missing string) {
	c.t.Helper()
	whys = map[string][]enginetest.Why{}
	for name, want := range stuckThere {
		namespace, _, _ := strings.Cut(want.net, "/")
		job := c.do(http.MethodGet, "/apis/batch/v1/namespaces/"+namespace+"/jobs/"+name, nil)
		since := job.text("status", "startTime")
		switch name {
		case "suspended":
			since = job.condition("Suspended", "True")
		case "failed":
			since = job.condition("Failed", "True")
		}
		at, err := time.Parse(time.RFC3339, since)
		if err != nil {
			return nil, nil, "Job " + name + " is not there yet"
		}
		why := want.why
		for _, p := range c.items("/api/v1/namespaces/" + namespace + "/pods?labelSelector=job-name%3D" + name) {
			why = strings.ReplaceAll(why, "POD", p.text("metadata", "name"))
			if since := p.condition("PodScheduled", "False"); since != "" {
				why = strings.ReplaceAll(why, "2026-01-01T00:00:00Z", since)
			}
			if since := p.text("status", "startTime"); since != "" {
				why = strings.ReplaceAll(why, "2026-01-01T00:00:00Z", since)
			}
		}
		out = append(out, enginetest.Held{Net: want.net, Instance: namespace + "/" + name, Node: stepJob, Since: at.UnixMilli()})
		_, text, _ := strings.Cut(why, ": ")
		whys[want.net+" "+stepJob] = []enginetest.Why{{Parts: []string{text}}}
	}
	return out, whys, ""
}

// counts returns how the counts of the net of the CronJob nightly differ from a number of
// Jobs that came and ended, besides the one that runs.
func counts(page *enginetest.Page, ended float64) string {
	if got := page.Counted("shop/cronjob/nightly", stepJob); got != [3]float64{ended, ended, ended} {
		return fmt.Sprintf("arrivals, departures and firings are %v; expected %g of each", got, ended)
	}
	return ""
}

// Jobs that are stuck in each way are shown by SNMP, Prometheus and the page as the API server
// has them. That and the counts are the same after the adapter, and then the API server, was killed.
func TestStuckJobs(t *testing.T) {
	c := newCluster(t)
	account := c.account()
	c.makeStuck()
	nats := natstest.Run(t, natstest.Listen).ClientURL()
	page := enginetest.Follow(t, "../../docs/attach/kubernetes.md", "", nats, "pnagent attach kubernetes", "pnagent attach kubernetes --kubeconfig "+account+" --interval 300ms")
	seesAll := func() {
		t.Helper()
		eventually(t, func() string {
			want, whys, missing := c.held()
			if missing != "" {
				return missing
			}
			return page.Faces(want, whys)
		})
	}
	seesAll()
	if d := page.Printed(""); d != "" {
		t.Error(d)
	}

	for i := range 3 {
		name := "quick-" + strconv.Itoa(i)
		c.job("shop", name, "nightly", item{})
		c.ends(name, 0)
	}
	eventually(t, func() string { return counts(page, 3) })
	again := page.Kill()
	c.job("shop", "while-away", "nightly", item{})
	c.ends("while-away", 0)
	again()
	eventually(t, func() string { return counts(page, 4) })
	seesAll()

	c.kill()
	eventually(t, func() string { return page.Disconnected("pnagent_kubernetes_connected") })
	c.startAPI()
	c.job("shop", "after", "nightly", item{})
	c.ends("after", 0)
	eventually(t, func() string { return counts(page, 5) })
	seesAll()
}

// The CronJob controller's Jobs are those of the net of the CronJob.
func TestACronJobRuns(t *testing.T) {
	c := newCluster(t)
	c.do(http.MethodPost, "/api/v1/namespaces", item{"metadata": item{"name": "shop"}})
	c.cronJob("minutely", "* * * * *")
	a := c.adapter()
	until(t, a, func() string {
		if a.nets["shop/cronjob/minutely"] == nil {
			return "no net"
		}
		return ""
	})
	end := time.Now().Add(90 * time.Second)
	for len(a.tokens()[a.nets["shop/cronjob/minutely"]]) == 0 {
		if time.Now().After(end) {
			t.Fatal("the CronJob made no Job")
		}
		time.Sleep(time.Second)
		if err := a.poll(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	until(t, a, func() string {
		for _, s := range a.schedules {
			if next, minute := time.UnixMicro(s.next), time.UnixMicro(s.last); s.last != 0 && next.Sub(minute) == time.Minute {
				return ""
			}
		}
		return "the next time is not a minute after the last one"
	})
}

// define makes a resource of another project, whose objects may have any fields.
func (c *cluster) define(scope, group, version, plural, kind string) {
	c.t.Helper()
	any := item{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	c.do(http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", item{"metadata": item{"name": plural + "." + group},
		"spec": item{"group": group, "scope": scope, "names": item{"plural": plural, "kind": kind},
			"versions": []item{{"name": version, "served": true, "storage": true, "schema": item{"openAPIV3Schema": any}}}}})
	eventually(c.t, func() string {
		_, err := c.send(http.MethodGet, "/apis/"+group+"/"+version+"/"+plural, nil)
		if err != nil {
			return err.Error()
		}
		return ""
	})
}

// put makes an object of a run that is stuck, and returns its path and what the server made of it.
func (c *cluster) put(o stuckObject, resources []resource) (path string, made item) {
	c.t.Helper()
	var object item
	if err := json.Unmarshal([]byte(o.text), &object); err != nil {
		c.t.Fatal(err)
	}
	path = "/api/v1"
	for _, r := range resources {
		if r.plural == o.resource {
			path = r.root()
			object["kind"] = "K" + r.plural
		}
	}
	path += "/namespaces/prod/" + o.resource
	delete(object["metadata"].(map[string]any), "uid")
	if o.resource != "pods" {
		made = c.do(http.MethodPost, path, object)
		return path + "/" + made.text("metadata", "name"), made
	}
	object["kind"], object["spec"] = "Pod", item{"schedulerName": "none", "containers": []item{{"name": "main", "image": "i"}}}
	made = c.do(http.MethodPost, path, object)
	path += "/" + made.text("metadata", "name")
	c.do(http.MethodPatch, path+"/status", item{"status": object["status"]})
	return path + "?gracePeriodSeconds=0", made
}

// Runs of Argo, Tekton and Actions Runner Controller, as their controllers write them, are shown as
// TestWhyARunIsStuck expects, with a real API server.
func TestStuckRuns(t *testing.T) {
	c := newCluster(t)
	c.do(http.MethodPost, "/api/v1/namespaces", item{"metadata": item{"name": "prod"}})
	var resources []resource
	for _, kind := range []string{"argo", "tekton", "arc"} {
		for _, r := range kinds[kind](false) {
			if r.group != "" {
				resources = append(resources, r)
				c.define("Namespaced", r.group, r.version, r.plural, "K"+r.plural)
			}
		}
	}
	a := c.adapter()
	for _, run := range stuckRuns {
		var made []string
		for _, o := range run.objects {
			path, object := c.put(o, resources)
			made = append(made, path)
			if run.since == "2026-01-01T00:00:00Z" && o.resource != "pods" { // the server sets when it was made
				run.since = object.text("metadata", "creationTimestamp")
			}
		}
		until(t, a, func() string { return run.differs(a) })
		for _, path := range made {
			c.do(http.MethodDelete, path, nil)
		}
		until(t, a, func() string {
			net, _ := run.whole()
			if left := len(a.tokens()[a.nets[net]]); left > 0 {
				return fmt.Sprintf("%s: %d tokens; expected none", run.name, left)
			}
			return ""
		})
	}
}

// adapter returns an adapter with the account of the manifest, which watches until the test ends.
func (c *cluster) adapter() *Adapter {
	c.t.Helper()
	access, err := Open(Access{Kubeconfig: c.account()})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(access.Close)
	a, err := New(Config{Cluster: access, Polling: ledger.Polling{Source: "test", Interval: time.Second, Timeout: time.Minute, Log: slog.New(slog.DiscardHandler)}})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(a.watch(c.t.Context()))
	return a
}

// Ten thousand Jobs take the adapter less than 100 MiB, also while it lists them.
func TestMemoryOfTheAdapter(t *testing.T) {
	c := newCluster(t)
	c.do(http.MethodPost, "/api/v1/namespaces", item{"metadata": item{"name": "shop"}})
	account := c.account()
	const jobs = 10_000
	work := make(chan int)
	failed := make(chan error, 20)
	for range 20 {
		go func() {
			for i := range work {
				spec := item{"suspend": true, "template": item{"spec": item{"restartPolicy": "Never", "containers": []item{{"name": "main", "image": "i"}}}}}
				if _, err := c.send(http.MethodPost, jobsPath, item{"metadata": item{"generateName": "many-" + strconv.Itoa(i%10) + "-"}, "spec": spec}); err != nil {
					failed <- err
					return
				}
			}
			failed <- nil
		}()
	}
	for i := range jobs {
		work <- i
	}
	close(work)
	for range 20 {
		if err := <-failed; err != nil {
			t.Fatal(err)
		}
	}
	nats := natstest.Run(t, natstest.Listen).ClientURL()
	page := enginetest.Follow(t, "../../docs/attach/kubernetes.md", "", nats, "pnagent attach kubernetes", "pnagent attach kubernetes --kubeconfig "+account)
	eventually(t, func() string {
		if n := page.Own("pnagent_kubernetes_runs"); n != jobs {
			return fmt.Sprintf("%g Jobs; expected %d", n, jobs)
		}
		return ""
	})
	peak := peakOf(t, account)
	t.Logf("%d MiB", peak)
	if peak > 100 {
		t.Errorf("%d MiB; expected at most 100", peak)
	}
}

// peakOf returns the most memory that the process whose arguments name a file had, in MiB.
func peakOf(t *testing.T, file string) (peak int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		args, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(args), file) || !strings.HasPrefix(string(args), "pnagent") {
			continue
		}
		status, err := os.ReadFile(filepath.Join(filepath.Dir(path), "status"))
		if err != nil {
			t.Fatal(err)
		}
		_, after, _ := strings.Cut(string(status), "VmHWM:")
		if _, err := fmt.Sscanf(after, "%d kB", &peak); err != nil {
			t.Fatal(err)
		}
		return peak >> 10
	}
	t.Fatal("the adapter does not run")
	return 0
}
