// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/internal/logtest"
	"github.com/pnagent/pnagent/internal/porttest"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// rabbit is RabbitMQ that runs.
type rabbit struct {
	stomp   string
	metrics string // its Prometheus endpoint
	env     []string
}

// startRabbit starts RabbitMQ in a temporary directory, with its metrics at a port.
func startRabbit(t *testing.T, web string) rabbit {
	t.Helper()
	need(t, "rabbitmq-server", "rabbitmq-server")
	found, _ := filepath.Glob("/usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin/rabbitmq-server")
	if len(found) == 0 {
		t.Skip("no script of rabbitmq-server below /usr/lib/rabbitmq/lib")
	}
	port := func() string { return porttest.Port(t) }
	dir, names := t.TempDir(), port()
	r := rabbit{stomp: "127.0.0.1:" + port(), metrics: "http://127.0.0.1:" + web}
	config := fmt.Sprintf("listeners.tcp.default = 127.0.0.1:%s\nstomp.listeners.tcp.1 = %s\nprometheus.tcp.ip = 127.0.0.1\nprometheus.tcp.port = %s\ncollect_statistics_interval = 1000\n",
		port(), r.stomp, web)
	err := errors.Join(os.WriteFile(filepath.Join(dir, "rabbitmq.conf"), []byte(config), 0o600),
		os.WriteFile(filepath.Join(dir, "plugins"), []byte("[rabbitmq_prometheus,rabbitmq_stomp].\n"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"HOME=" + dir, "ERL_EPMD_PORT=" + names, "ERL_EPMD_ADDRESS=127.0.0.1", "RABBITMQ_NODENAME=pnagent@localhost", "RABBITMQ_MNESIA_BASE=" + dir,
		"RABBITMQ_LOG_BASE=" + dir, "RABBITMQ_ENABLED_PLUGINS_FILE=" + dir + "/plugins", "RABBITMQ_CONFIG_FILE=" + dir + "/rabbitmq.conf",
		"RABBITMQ_DIST_PORT=" + port(), "RABBITMQ_PID_FILE=" + dir + "/pid", "RABBITMQ_CONF_ENV_FILE=/dev/null"}
	startGroup(t, env, need(t, "epmd", "erlang-base"), "-port", names, "-address", "127.0.0.1")
	startGroup(t, env, found[0])
	r.env = env
	until(t, "RabbitMQ runs", func() error {
		resp, err := http.Get(r.metrics + "/metrics")
		if err != nil {
			return err
		}
		return resp.Body.Close()
	})
	return r
}

// ctl runs a command of the broker's administrator.
func (r rabbit) ctl(t *testing.T, args ...string) {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin/rabbitmqctl")
	if len(found) == 0 {
		t.Skip("no script of rabbitmqctl below /usr/lib/rabbitmq/lib")
	}
	cmd := exec.Command(found[0], append([]string{"-n", "pnagent@localhost"}, args...)...)
	cmd.Env = append(os.Environ(), r.env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
}

// startGroup runs a program that starts others. All of them end with the test.
func startGroup(t *testing.T, env []string, path string, args ...string) {
	t.Helper()
	var out logtest.Buffer
	cmd := exec.Command(path, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), env...), &out, &out
	cmd.SysProcAttr, cmd.WaitDelay = &syscall.SysProcAttr{Setpgid: true}, time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait() // how it ended was just decided
		// Its children write into directories of the test until they are gone, too.
		for end := time.Now().Add(10 * time.Second); syscall.Kill(-cmd.Process.Pid, 0) == nil && time.Now().Before(end); {
			time.Sleep(10 * time.Millisecond)
		}
		if t.Failed() {
			t.Logf("%s:\n%.4000s", path, out.String())
		}
	})
}

// stompClient is a connection in STOMP, RabbitMQ's protocol of text.
type stompClient struct {
	net.Conn
	in *bufio.Reader
}

func (r rabbit) connect(t *testing.T) stompClient {
	t.Helper()
	c := stompClient{}
	until(t, "STOMP is there", func() (err error) {
		c.Conn, err = net.Dial("tcp", r.stomp)
		return err
	})
	t.Cleanup(func() { _ = c.Close() })
	c.in = bufio.NewReader(c)
	c.send(t, "CONNECTED", "CONNECT", "accept-version:1.2", "host:/", "login:guest", "passcode:guest")
	return c
}

// send sends a frame, and waits for one that begins with want.
func (c stompClient) send(t *testing.T, want, command string, headers ...string) {
	t.Helper()
	c.write(t, command, headers...)
	c.read(t, want)
}

// write sends a frame.
func (c stompClient) write(t *testing.T, command string, headers ...string) {
	t.Helper()
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(c, "%s\n%s\n\nbody\x00", command, strings.Join(headers, "\n")); err != nil {
		t.Fatal(err)
	}
}

// read waits for a frame that begins with want.
func (c stompClient) read(t *testing.T, want string) (frame string) {
	t.Helper()
	for {
		frame, err := c.in.ReadString(0)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(strings.TrimLeft(frame, "\n"), want) {
			return frame
		}
	}
}

// publish puts n messages into a queue, which it declares.
func (c stompClient) publish(t *testing.T, queue string, n int, headers ...string) {
	t.Helper()
	for range n {
		c.send(t, "RECEIPT", "SEND", append([]string{"destination:/queue/" + queue, "durable:true", "auto-delete:false", "receipt:1"}, headers...)...)
	}
}

// stuckPlaces returns which alarm there is for which place.
func stuckPlaces(alarms []activeAlarm) (places []string) {
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
func raisedInTime(t *testing.T, alarms []activeAlarm, due time.Time) {
	t.Helper()
	for _, a := range alarms {
		counts := time.Second
		if strings.HasPrefix(a.Place, "quorum@") {
			counts = 5 * time.Second
		}
		late, most := a.time(t, a.Raised).Sub(due), counts+scrapeEvery+time.Second+3*time.Second
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
func TestAQueueWithoutAConsumerRaisesAnAlarmAndAConsumerClearsIt(t *testing.T) {
	t.Parallel()
	broker := startRabbit(t, porttest.Port(t))
	natsURL := startNATS(t)
	byDefault := serve(t, natsURL, "--snmp", "127.0.0.1:0")
	const after = 3 * time.Second
	soon := serve(t, natsURL, "--snmp", "127.0.0.1:0", "--alarms", write(t, "alarms.yaml", "settle: 1s\ndefaults: {stuck: {after: 3s, clear_after: 1s}}\n"))
	attachScrape(t, natsURL, "rabbitmq-queues", broker.metrics+"/metrics/detailed?family=queue_coarse_metrics&family=queue_metrics&family=channel_queue_metrics&family=channel_queue_exchange_metrics")
	broker.connect(t).write(t, "SUBSCRIBE", "id:1", "destination:/queue/empty") // a first queue: without one there is no net
	until(t, "the adapter publishes", func() error {
		if state := soon.view(t).source("rabbitmq queues", "scraped"); state != "up" {
			return fmt.Errorf("it is %q", state)
		}
		return nil
	})

	publisher := broker.connect(t)
	stamped := time.Now().Add(-time.Hour).Truncate(time.Second)
	began := time.Now()
	publisher.publish(t, "classic", 3)
	publisher.publish(t, "quorum", 2, "x-queue-type:quorum")
	publisher.publish(t, "stamped", 1, fmt.Sprintf("timestamp:%d", stamped.Unix()))
	published := time.Now()

	until(t, "the rules that no file changes raise an alarm for the queue whose age the broker gives", func() error {
		return differ([]string{"tokenStuck stamped@/ ready"}, stuckPlaces(byDefault.alarms(t)))
	})
	unread := []string{"tokenStuck classic@/ ready", "tokenStuck quorum@/ ready", "tokenStuck stamped@/ ready"}
	until(t, "there is an alarm for each queue", func() error { return differ(unread, stuckPlaces(soon.alarms(t))) })
	raisedInTime(t, byDefault.alarms(t), published)
	raisedInTime(t, soon.alarms(t), published.Add(after))
	agent := snmptest.Client{Addr: soon.snmp, Community: "public"}
	soon.sinceWhen(t, agent, key{"rabbitmq queues", "stamped@/ ready"}).within(t, "the timestamp", stamped, stamped)
	for _, queue := range []string{"classic", "quorum"} {
		soon.sinceWhen(t, agent, key{"rabbitmq queues", queue + "@/ ready"}).within(t, "the observation of "+queue, began, time.Now().Add(-after))
	}
	if os.Getenv("PNAGENT_TEST_DEFAULT_ALARMS") != "" {
		time.Sleep(time.Until(published.Add(tenMinutes))) // before that there is nothing to wait for
		until(t, "the rules that no file changes raise an alarm for each queue", func() error { return differ(unread, stuckPlaces(byDefault.alarms(t))) })
		raisedInTime(t, byDefault.alarms(t), published.Add(tenMinutes))
	}

	consumer := broker.connect(t)
	for i, queue := range []string{"classic", "quorum", "stamped"} {
		consumer.send(t, "MESSAGE", "SUBSCRIBE", fmt.Sprintf("id:%d", i), "destination:/amq/queue/"+queue, "ack:auto")
	}
	until(t, "the consumer cleared all alarms", func() error { return differ([]string(nil), stuckPlaces(soon.alarms(t))) })
	until(t, "what was delivered is counted", func() error {
		got := map[string]uint64{}
		for place, n := range soon.scrape(t).numbers().Firings {
			if strings.HasSuffix(place.ID, " take") {
				got[place.ID] = n
			}
		}
		if d := cmp.Diff(map[string]uint64{"classic@/ take": 3, "quorum@/ take": 2, "stamped@/ take": 1}, got); d != "" {
			return fmt.Errorf("-want +got\n%s", d)
		}
		return nil
	})
}

// The metrics of a real broker come through a proxy that answers with other pages for a
// while. No such answer ends the alarm of a queue without a consumer; that the queue is
// deleted does, although it was the last one.
func TestAnAnswerWithoutTheQueuesClearsNoAlarm(t *testing.T) {
	t.Parallel()
	broker := startRabbit(t, porttest.Port(t))
	var spoil atomic.Pointer[func(page string) string]
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		resp, err := http.Get(broker.metrics + "/metrics/detailed?family=queue_coarse_metrics&family=queue_metrics")
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
	natsURL := startNATS(t)
	side := serve(t, natsURL, "--alarms", write(t, "alarms.yaml", "settle: 1s\ndefaults: {stuck: {after: 1s, clear_after: 1s}, lost: {for: 0s, clear_after: 1s}}\n"))
	adapter := attachScrape(t, natsURL, "rabbitmq-queues", proxy.URL)
	client := broker.connect(t)
	client.publish(t, "orders", 3)
	const stuck = "tokenStuck orders@/ ready"
	alarmed := func(want ...string) {
		t.Helper()
		until(t, fmt.Sprintf("the alarms are %q", want), func() error { return differ(want, stuckPlaces(side.alarms(t))) })
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
		if state := side.view(t).source("rabbitmq queues", "scraped"); state != "stale" {
			t.Errorf("%s: the source is %s", name, state)
		}
		spoil.Store(nil)
		alarmed(stuck)
	}
	own := string(adapter.web(t).page(t, "/metrics"))
	for _, result := range []string{"unmapped", "incomplete"} {
		if strings.Contains(own, `pnagent_scrape_attempts_total{result="`+result+`",source="scraped"} 0`) {
			t.Errorf("no scrape has the result %s", result)
		}
	}
	broker.ctl(t, "delete_queue", "orders")
	alarmed()
}
