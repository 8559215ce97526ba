// SPDX-License-Identifier: Apache-2.0

package busytest

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
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
	var ended atomic.Bool
	var working sync.WaitGroup
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2*runtime.NumCPU() + 1))
	for range 2*runtime.NumCPU() + 1 {
		working.Go(func() {
			for n := 0; !ended.Load(); n++ {
			}
		})
	}
	for end := time.Now().Add(time.Minute); waited() < least && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	got := waited()
	ended.Store(true)
	working.Wait()
	if got < least {
		t.Errorf("%v; want %v within a minute", got, least)
	}
}
