// SPDX-License-Identifier: Apache-2.0

//go:build peers

package kit

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pnagent/pnagent/internal/logtest"
	"github.com/pnagent/pnagent/internal/porttest"
)

// rabbit is RabbitMQ that runs.
type rabbit struct {
	stomp   string
	Metrics string // its Prometheus endpoint
	env     []string
}

// StartRabbit starts RabbitMQ in a temporary directory, with its metrics at a port.
func StartRabbit(t *testing.T, web string) rabbit {
	t.Helper()
	Need(t, "rabbitmq-server", "rabbitmq-server")
	found, _ := filepath.Glob("/usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin/rabbitmq-server")
	if len(found) == 0 {
		t.Skip("no script of rabbitmq-server below /usr/lib/rabbitmq/lib")
	}
	port := func() string { return porttest.Port(t) }
	dir, names := t.TempDir(), port()
	r := rabbit{stomp: "127.0.0.1:" + port(), Metrics: "http://127.0.0.1:" + web}
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
	StartGroup(t, env, Need(t, "epmd", "erlang-base"), "-port", names, "-address", "127.0.0.1")
	StartGroup(t, env, found[0])
	r.env = env
	Until(t, "RabbitMQ runs", func() error {
		resp, err := http.Get(r.Metrics + "/metrics")
		if err != nil {
			return err
		}
		return resp.Body.Close()
	})
	return r
}

// Ctl runs a command of the broker's administrator.
func (r rabbit) Ctl(t *testing.T, args ...string) {
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

// Consumers returns how many consumers a queue has by the broker's metrics; "" if they have no such queue.
func (r rabbit) Consumers(t *testing.T, queue string) string {
	t.Helper()
	resp, err := http.Get(r.Metrics + "/metrics/detailed?family=queue_metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		series, value, _ := strings.Cut(lines.Text(), "} ")
		if strings.HasPrefix(series, "rabbitmq_detailed_queue_consumers{") && strings.Contains(series, `queue="`+queue+`"`) {
			return value
		}
	}
	return ""
}

// StartGroup runs a program that starts others. All of them end with the test.
func StartGroup(t *testing.T, env []string, path string, args ...string) {
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
		for end := time.Now().Add(Patience); syscall.Kill(-cmd.Process.Pid, 0) == nil && time.Now().Before(end); {
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

func (r rabbit) Connect(t *testing.T) stompClient {
	t.Helper()
	c := stompClient{}
	Until(t, "STOMP is there", func() (err error) {
		c.Conn, err = net.Dial("tcp", r.stomp)
		return err
	})
	t.Cleanup(func() { _ = c.Close() })
	c.in = bufio.NewReader(c)
	c.Send(t, "CONNECTED", "CONNECT", "accept-version:1.2", "host:/", "login:guest", "passcode:guest")
	return c
}

// Send sends a frame, and waits for one that begins with want.
func (c stompClient) Send(t *testing.T, want, command string, headers ...string) {
	t.Helper()
	c.WriteFrame(t, command, headers...)
	c.ReadFrame(t, want)
}

// WriteFrame sends a frame.
func (c stompClient) WriteFrame(t *testing.T, command string, headers ...string) {
	t.Helper()
	if err := c.SetDeadline(time.Now().Add(Patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(c, "%s\n%s\n\nbody\x00", command, strings.Join(headers, "\n")); err != nil {
		t.Fatal(err)
	}
}

// ReadFrame waits for a frame that begins with want.
func (c stompClient) ReadFrame(t *testing.T, want string) (frame string) {
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

// Publish puts n messages into a queue, which it declares.
func (c stompClient) Publish(t *testing.T, queue string, n int, headers ...string) {
	t.Helper()
	for range n {
		c.Send(t, "RECEIPT", "SEND", append([]string{"destination:/queue/" + queue, "durable:true", "auto-delete:false", "receipt:1"}, headers...)...)
	}
}
