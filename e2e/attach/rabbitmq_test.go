// SPDX-License-Identifier: Apache-2.0

//go:build peers

package attach

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/porttest"
	"github.com/pnagent/pnagent/snmp/snmptest"
	"github.com/pnagent/pnagent/web/api"
)

// stuckPlaces returns which alarm there is for which place.
func stuckPlaces(alarms []api.Alarm) (places []string) {
	for _, a := range alarms {
		places = append(places, a.Alarm+" "+a.Place)
	}
	slices.Sort(places)
	return places
}

// raisedInTime checks that no alarm was raised later than the time at which it is due,
// plus the intervals of what lies between: the broker counts the messages of a quorum
// queue every five seconds, and is configured to count those of another queue every
// second; the adapter scrapes it; and the sidecar judges every second. A machine that
// other tests use too may take some more.
func raisedInTime(t *testing.T, alarms []api.Alarm, due time.Time) {
	t.Helper()
	for _, a := range alarms {
		counts := time.Second
		if strings.HasPrefix(a.Place, "quorum@") {
			counts = 5 * time.Second
		}
		late, most := a.Raised.Time().Sub(due), counts+kit.ScrapeEvery+time.Second+3*time.Second
		t.Logf("%s of %s: raised %v late", a.Alarm, a.Place, late)
		if late > most {
			t.Errorf("the alarm of %s was raised %v late; expected at most %v", a.Place, late, most)
		}
	}
}

// tenMinutes is after which a token is stuck where no file says otherwise.
const tenMinutes = 10 * time.Minute

// Three queues of a real broker have no consumer: a classic one, a quorum one, and one
// whose publisher sets timestamps. With PNAGENT_TEST_DEFAULT_ALARMS the test waits until
// the default threshold has passed for all of them.
//
//promise:evidence stop
func TestAQueueWithoutAConsumerRaisesAnAlarmAndAConsumerClearsIt(t *testing.T) {
	t.Parallel()
	broker := kit.StartRabbit(t, porttest.Port(t))
	natsURL := kit.StartNATS(t)
	byDefault := kit.Serve(t, natsURL, "--snmp", "127.0.0.1:0")
	const after = 3 * time.Second
	soon := kit.Serve(t, natsURL, "--snmp", "127.0.0.1:0", "--alarms", kit.Write(t, "alarms.yaml", "settle: 1s\ndefaults: {stuck: [{after: 3s, clear_after: 1s}, {reason: noWorker, severity: critical}]}\n"))
	kit.AttachScrape(t, natsURL, "rabbitmq-queues", broker.Metrics+"/metrics/detailed?family=queue_coarse_metrics&family=queue_metrics&family=channel_queue_metrics&family=channel_queue_exchange_metrics")
	broker.Connect(t).WriteFrame(t, "SUBSCRIBE", "id:1", "destination:/queue/empty") // a first queue: without one there is no net
	kit.Until(t, "the adapter publishes", func() error {
		if state := soon.View(t).Source("rabbitmq queues", "scraped"); state != "up" {
			return fmt.Errorf("it is %q", state)
		}
		return nil
	})

	publisher := broker.Connect(t)
	stamped := time.Now().Add(-time.Hour).Truncate(time.Second)
	began := time.Now()
	publisher.Publish(t, "classic", 3)
	publisher.Publish(t, "quorum", 2, "x-queue-type:quorum")
	publisher.Publish(t, "stamped", 1, fmt.Sprintf("timestamp:%d", stamped.Unix()))
	published := time.Now()

	kit.Until(t, "the rules that no file changes raise an alarm for the queue whose age the broker gives", func() error {
		return kit.Differ([]string{"tokenStuck stamped@/ ready"}, stuckPlaces(byDefault.Alarms(t)))
	})
	unread := []string{"tokenStuck classic@/ ready", "tokenStuck quorum@/ ready", "tokenStuck stamped@/ ready"}
	kit.Until(t, "there is an alarm for each queue", func() error { return kit.Differ(unread, stuckPlaces(soon.Alarms(t))) })
	unconsumed(t, soon.Alarms(t), "; no consumer, at least since ")
	raisedInTime(t, byDefault.Alarms(t), published)
	raisedInTime(t, soon.Alarms(t), published.Add(after))
	agent := snmptest.Client{Addr: soon.SNMP, Community: "public"}
	shownSince(t, soon.Web, agent, kit.Key{Net: "rabbitmq queues", ID: "stamped@/ ready"}).Within(t, "the timestamp", stamped, stamped)
	for _, queue := range []string{"classic", "quorum"} {
		shownSince(t, soon.Web, agent, kit.Key{Net: "rabbitmq queues", ID: queue + "@/ ready"}).Within(t, "the observation of "+queue, began, time.Now().Add(-after))
	}
	if os.Getenv("PNAGENT_TEST_DEFAULT_ALARMS") != "" {
		time.Sleep(time.Until(published.Add(tenMinutes))) // before that there is nothing to wait for
		kit.Until(t, "the rules that no file changes raise an alarm for each queue", func() error { return kit.Differ(unread, stuckPlaces(byDefault.Alarms(t))) })
		raisedInTime(t, byDefault.Alarms(t), published.Add(tenMinutes))
	}

	consumer := broker.Connect(t)
	for i, queue := range []string{"classic", "quorum", "stamped"} {
		consumer.Send(t, "MESSAGE", "SUBSCRIBE", fmt.Sprintf("id:%d", i), "destination:/amq/queue/"+queue, "ack:auto")
	}
	kit.Until(t, "the consumer cleared all alarms", func() error { return kit.Differ([]string(nil), stuckPlaces(soon.Alarms(t))) })
	kit.Until(t, "what was delivered is counted", func() error {
		got := map[string]uint64{}
		for place, n := range soon.Scrape(t).Numbers().Firings {
			if strings.HasSuffix(place.ID, " take") {
				got[place.ID] = n
			}
		}
		if d := cmp.Diff(map[string]uint64{"classic@/ take": 3, "quorum@/ take": 2, "stamped@/ take": 1}, got); d != "" {
			return fmt.Errorf("-want +got\n%s", d)
		}
		return nil
	})

	// The consumer goes, and the next message has none. The adapter saw that it was there.
	if err := consumer.Close(); err != nil {
		t.Fatal(err)
	}
	// Until the broker has noticed that, it gives a message to the connection that is gone, and the queue is empty again.
	kit.Until(t, "the broker has no consumer of the queue", func() error {
		if n := broker.Consumers(t, "classic"); n != "0" {
			return fmt.Errorf("it has %q", n)
		}
		return nil
	})
	publisher.Publish(t, "classic", 1)
	kit.Until(t, "there is an alarm for the queue that lost its consumer", func() error {
		return kit.Differ([]string{"tokenStuck classic@/ ready"}, stuckPlaces(soon.Alarms(t)))
	})
	unconsumed(t, soon.Alarms(t), "; no consumer since ")
}

// unconsumed checks that each alarm is that of the rule for queues without a consumer, and says so.
func unconsumed(t *testing.T, alarms []api.Alarm, words string) {
	t.Helper()
	for _, a := range alarms {
		if a.ForReason != "noWorker" || a.Severity != "critical" || !strings.Contains(a.Text, words+time.Now().UTC().Format("2006-01-02T")) {
			t.Errorf("%s: for %q, %s, %s", a.Place, a.ForReason, a.Severity, a.Text)
		}
	}
}

// The metrics of a real broker come through a proxy that answers with other pages for a
// while. No such answer ends the alarm of a queue without a consumer; that the queue is
// deleted does, although it was the last one.
//
//promise:evidence messages
func TestAnAnswerWithoutTheQueuesClearsNoAlarm(t *testing.T) {
	t.Parallel()
	broker := kit.StartRabbit(t, porttest.Port(t))
	var spoil atomic.Pointer[func(page string) string]
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		resp, err := http.Get(broker.Metrics + "/metrics/detailed?family=queue_coarse_metrics&family=queue_metrics")
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer resp.Body.Close()
		page, err := io.ReadAll(resp.Body)
		if f := spoil.Load(); f != nil && err == nil {
			page = []byte((*f)(string(page)))
		}
		w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
		_, _ = w.Write(page)
	}))
	t.Cleanup(proxy.Close)
	natsURL := kit.StartNATS(t)
	side := kit.Serve(t, natsURL, "--alarms", kit.Write(t, "alarms.yaml", "settle: 1s\ndefaults: {stuck: {after: 1s, clear_after: 1s}, lost: {for: 0s, clear_after: 1s}}\n"))
	adapter := kit.AttachScrape(t, natsURL, "rabbitmq-queues", proxy.URL)
	client := broker.Connect(t)
	client.Publish(t, "orders", 3)
	const stuck = "tokenStuck orders@/ ready"
	alarmed := func(want ...string) {
		t.Helper()
		kit.Until(t, fmt.Sprintf("the alarms are %q", want), func() error { return kit.Differ(want, stuckPlaces(side.Alarms(t))) })
	}
	alarmed(stuck)
	number := regexp.MustCompile(`(?m)^(rabbitmq_detailed_queue_messages_ready\{.*\}) .*$`)
	for name, f := range map[string]func(page string) string{
		"an empty page": func(string) string { return "" },
		"no number":     func(page string) string { return number.ReplaceAllString(page, "$1 NaN") },
	} {
		t.Log(name)
		spoil.Store(&f)
		alarmed("sourceLost ", stuck)
		if state := side.View(t).Source("rabbitmq queues", "scraped"); state != "stale" {
			t.Errorf("%s: the source is %s", name, state)
		}
		spoil.Store(nil)
		alarmed(stuck)
	}
	own := string(adapter.Web(t).Page(t, "/metrics"))
	for _, result := range []string{"unmapped", "incomplete"} {
		if strings.Contains(own, `pnagent_scrape_attempts_total{result="`+result+`",source="scraped"} 0`) {
			t.Errorf("no scrape has the result %s", result)
		}
	}
	broker.Ctl(t, "delete_queue", "orders")
	alarmed()
}
