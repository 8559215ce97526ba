// SPDX-License-Identifier: Apache-2.0

package busytest

import (
	"os"
	"runtime"
	"sync"
	"testing"
	"time"
)

// More threads that work than there are processors wait for each other.
func TestThreadsThatWaitForAProcessorAreCounted(t *testing.T) {
	if _, err := os.Stat("/proc/self/schedstat"); err != nil {
		t.Skip("the kernel does not count how long threads wait")
	}
	waited := Since()
	const least = 50 * time.Millisecond
	ended := make(chan struct{})
	var working sync.WaitGroup
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2*runtime.NumCPU() + 1))
	for range 2*runtime.NumCPU() + 1 {
		working.Go(func() {
			for {
				select {
				case <-ended:
					return
				default:
				}
			}
		})
	}
	for end := time.Now().Add(time.Minute); waited() < least && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	got := waited()
	close(ended)
	working.Wait()
	if got < least {
		t.Errorf("%v; want %v within a minute", got, least)
	}
}
