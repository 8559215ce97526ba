// SPDX-License-Identifier: Apache-2.0

package temporaltest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pnagent/pnagent/internal/porttest"
)

// numbers are what differs from run to run in the output of a document.
var numbers = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d+(\.\d+)?`)

// The commands of docs/attach/temporal.md start what they should and print what the
// page shows, but for numbers.
func TestTheDocumentWordForWord(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	c := s.client("default")
	work(t, c)
	for _, kind := range []string{"Ship", "Approve", "Pay"} {
		begin(t, c, kind, "one-"+kind)
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "attach", "temporal.md"))
	if err != nil {
		t.Fatal(err)
	}
	port := func() string { return porttest.Port(t) }
	web := port()
	there := strings.NewReplacer("nats-server &", "nats-server -a 127.0.0.1 -p 4222 &\n", "127.0.0.1:7233", s.address, "4222", port(), "1161", port(), "9798", port(),
		"9797", web, `--mib-dir ""`, `--mib-dir "" --web.listen-address 127.0.0.1:`+web)
	setup := regexp.MustCompile("(?s)```sh\n(.*?)```").FindStringSubmatch(string(text))
	console := regexp.MustCompile("(?s)```console\n(.*?)```").FindStringSubmatch(string(text))
	if setup == nil || console == nil {
		t.Fatal("the page has no commands")
	}
	dir := t.TempDir()
	shell := func(ctx context.Context, commands string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, "bash", "-c", there.Replace(commands))
		cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Setpgid: true}
		cmd.Env = append(os.Environ(), "PATH="+built(t)+":"+os.Getenv("PATH"))
		return cmd
	}
	started := shell(context.Background(), setup[1]+"\nwait")
	if err := started.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Kill(-started.Process.Pid, syscall.SIGKILL) //nolint:errcheck // all that it has started, too
		started.Wait()                                      //nolint:errcheck // killed
	})
	normal := func(text string) string { return strings.TrimSpace(numbers.ReplaceAllString(text, "N")) }
	for _, part := range strings.Split("\n"+console[1], "\n$ ")[1:] {
		command, want, _ := strings.Cut(part, "\n")
		for _, name := range []string{"curl", "jq"} {
			if _, err := exec.LookPath(name); err != nil {
				t.Skipf("%s is not installed; scripts/deps peers installs it", name)
			}
		}
		until(t, command, func() string {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			out, _ := shell(ctx, command).CombinedOutput()
			if normal(string(out)) != normal(want) {
				return string(out)
			}
			return ""
		})
	}
}
