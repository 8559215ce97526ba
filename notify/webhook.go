// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/pnagent/pnagent/collector/alarm"
)

// maxAnswer is how many bytes of an answer are read, so that the connection can be used again.
const maxAnswer = 64 << 10

// webhook posts events to an address. A receiver proves them by the headers of Standard Webhooks:
// webhook-id, webhook-timestamp and webhook-signature.
type webhook struct {
	url    string
	secret []byte // nil signs nothing
	sink   string
	encode encoder
	client *http.Client
}

// encoder returns the document of an event, and its content type.
type encoder func(*webhook, *Site, *Event) (kind string, document any)

// encoders are those of the formats.
var encoders = map[string]encoder{"cloudevents": asCloudEvent, "alertmanager": asAlertmanager, "otlp": asLogRecord}

func (w *webhook) send(ctx context.Context, site *Site, e *Event) error {
	kind, document := w.encode(w, site, e)
	body, err := json.Marshal(document)
	if err != nil {
		return refused(err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(body))
	if err != nil {
		return refused(err)
	}
	r.Header.Set("Content-Type", kind)
	r.Header.Set("User-Agent", "pnagent")
	sign(r.Header, w.secret, e.ID, time.Now(), body)
	answer, err := w.client.Do(r)
	if err != nil {
		return hideURL(err)
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxAnswer))
	return judge(answer, time.Now())
}

// reach asks what the address takes. OPTIONS is safe: it changes nothing and carries no event. A
// receiver that does not know it refuses it, and is reached all the same.
func (w *webhook) reach(ctx context.Context) (said string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodOptions, w.url, http.NoBody)
	if err != nil {
		return "", err
	}
	r.Header.Set("User-Agent", "pnagent")
	answer, err := w.client.Do(r)
	if err != nil {
		return "", hideURL(err)
	}
	_ = answer.Body.Close() // only the status counts
	said = "it answers " + answer.Status + " to OPTIONS"
	switch answer.StatusCode {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return "", errors.New(said)
	}
	return said, nil
}

// judge returns the error of an answer. What may be taken later is repeated.
func judge(answer *http.Response, now time.Time) error {
	err := fmt.Errorf("the receiver answers %s", answer.Status)
	switch code := answer.StatusCode; {
	case code >= 200 && code < 300:
		return nil
	case code >= 500 || code == http.StatusTooManyRequests || code == http.StatusRequestTimeout || code == http.StatusTooEarly:
		return &failure{err: err, reason: alarm.Unanswered, after: retryAfter(answer.Header.Get("Retry-After"), now)}
	}
	return refused(err)
}

func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(text); err == nil && seconds > 0 {
		return time.Duration(min(seconds, int(maxPause.Seconds()))) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// hideURL returns an error without the address, which may be a secret.
func hideURL(err error) error {
	if u, ok := err.(interface{ Unwrap() error }); ok {
		return u.Unwrap()
	}
	return err
}

// sign adds the headers of Standard Webhooks: an id, the time in seconds, and the HMAC-SHA256 of
// "id.time.body" with the secret.
func sign(h http.Header, secret []byte, id string, now time.Time, body []byte) {
	at := strconv.FormatInt(now.Unix(), 10)
	h.Set("Webhook-Id", id)
	h.Set("Webhook-Timestamp", at)
	if secret == nil {
		return
	}
	mac := hmac.New(sha256.New, secret)
	fmt.Fprintf(mac, "%s.%s.%s", id, at, body)
	h.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}

// secretBytes returns the key of a secret: of "whsec_…" the bytes that the rest encodes, as
// Standard Webhooks write it, and else the text itself.
func secretBytes(text string) ([]byte, error) {
	encoded, is := strings.CutPrefix(text, "whsec_")
	if !is {
		return []byte(text), nil
	}
	return base64.StdEncoding.DecodeString(encoded)
}

// cloudEvent is an event in the JSON format of CloudEvents 1.0.
type cloudEvent struct {
	SpecVersion string    `json:"specversion"`
	ID          string    `json:"id"`
	Source      string    `json:"source"`
	Type        string    `json:"type"`
	Subject     string    `json:"subject"`
	Time        time.Time `json:"time"`
	ContentType string    `json:"datacontenttype"`
	Data        *Event    `json:"data"`
}

func asCloudEvent(_ *webhook, site *Site, e *Event) (kind string, document any) {
	return "application/cloudevents+json; charset=utf-8", cloudEvent{"1.0", e.ID, site.Source, "io.pnagent.alarm." + e.What, e.subject(), e.At, "application/json", e}
}

// groupMessage is a message of Alertmanager's webhook, version 4.
type groupMessage struct {
	Version           string            `json:"version"`
	GroupKey          string            `json:"groupKey"`
	TruncatedAlerts   int               `json:"truncatedAlerts"`
	Status            string            `json:"status"`
	Receiver          string            `json:"receiver"`
	GroupLabels       map[string]string `json:"groupLabels"`
	CommonLabels      map[string]string `json:"commonLabels"`
	CommonAnnotations map[string]string `json:"commonAnnotations"`
	ExternalURL       string            `json:"externalURL"`
	Alerts            []groupAlert      `json:"alerts"`
}

type groupAlert struct {
	Status       string            `json:"status"`
	Labels       map[string]string `json:"labels"`
	Annotations  map[string]string `json:"annotations"`
	StartsAt     time.Time         `json:"startsAt"`
	EndsAt       time.Time         `json:"endsAt"`
	GeneratorURL string            `json:"generatorURL"`
	Fingerprint  string            `json:"fingerprint"`
}

// asAlertmanager returns an event as Alertmanager sends a group of one alert.
func asAlertmanager(w *webhook, site *Site, e *Event) (kind string, document any) {
	a := groupAlert{Status: "firing", StartsAt: e.At, Annotations: map[string]string{"summary": e.Title(), "event": e.What}}
	if e.Alarm == nil {
		a.Labels = map[string]string{"alertname": "PnagentNotificationsSuppressed", "severity": "warning"}
		a.EndsAt, a.Annotations["description"] = e.At, e.Body()
	} else {
		a.Labels = e.labels()
		a.StartsAt, a.GeneratorURL = e.Raised, e.Page
		for name, value := range map[string]string{"description": e.Text, "runbook_url": e.Runbook, "page_url": e.Page, "instance": e.Instance, "why": e.Why} {
			if value != "" {
				a.Annotations[name] = value
			}
		}
	}
	if !e.active() {
		a.Status, a.EndsAt = "resolved", e.At
	}
	key := e.subject() + "/" + a.Labels["alertname"] + "/" + a.Labels["for_reason"]
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(key)) // never fails
	a.Fingerprint = fmt.Sprintf("%016x", hash.Sum64())
	return "application/json", groupMessage{Version: "4", GroupKey: key, Status: a.Status, Receiver: w.sink, GroupLabels: map[string]string{"alertname": a.Labels["alertname"]},
		CommonLabels: a.Labels, CommonAnnotations: a.Annotations, ExternalURL: cmp.Or(site.Page, site.Source), Alerts: []groupAlert{a}}
}

// labels returns those by which the alarm differs from others, and its severity. The name is that of the alert
// for Prometheus about the same kind of alarm.
func (a *Alarm) labels() map[string]string {
	name := a.Kind
	if kind, ok := alarm.KindNamed(a.Kind); ok {
		name = strings.TrimSuffix(kind.Runbook(), ".md")
	}
	labels := map[string]string{"alertname": "Petrinet" + strings.ToUpper(name[:1]) + name[1:]}
	for label, value := range map[string]string{"alarm": a.Kind, "severity": a.Severity, "net": a.Net, "place": a.Place, "transition": a.Transition, "source": a.Source,
		"region": a.Region, "for_reason": a.ForReason, "reason": a.Reason} {
		if value != "" {
			labels[label] = value
		}
	}
	return labels
}
