// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"fmt"
	"testing"
)

func TestNoticesAreBounded(t *testing.T) {
	var n notices
	if n.first("a", t0) != noticeFirst || n.first("a", t0+1) != noticeSeen {
		t.Error("the same twice")
	}
	for i := range maxNotices - 2 {
		if n.first(fmt.Sprint(i), t0) != noticeFirst {
			t.Fatalf("notice %d is not logged", i)
		}
	}
	if n.first("last", t0) != noticeLast || n.first("more", t0) != noticeSeen || len(n.seen) != maxNotices {
		t.Error("no bound")
	}
	if n.first("a", t0+noticePeriod+1) != noticeFirst {
		t.Error("not again after an hour")
	}
}
