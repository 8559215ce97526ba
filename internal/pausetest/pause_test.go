// SPDX-License-Identifier: Apache-2.0

package pausetest

import (
	"bufio"
	"io"
	"os/exec"
	"testing"
	"time"
)

// TestAStoppedProcessDoesNothingUntilItIsResumed stops a process of several
// threads that writes all the time, and reads what it wrote before.
func TestAStoppedProcessDoesNothingUntilItIsResumed(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "while :; do read -r _; echo answered; done")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		for scan := bufio.NewScanner(out); scan.Scan(); {
			lines <- scan.Text()
		}
	}()
	ask := func() {
		if _, err := io.WriteString(in, "\n"); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		ask()
		<-lines
		Stop(t, cmd.Process)
		ask()
		select {
		case <-lines:
			t.Fatal("a stopped process answers")
		case <-time.After(2 * time.Millisecond):
		}
		Resume(t, cmd.Process)
		<-lines
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for range lines { // until it has ended
	}
	_ = cmd.Wait() // it was killed
}
