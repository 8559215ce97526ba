// SPDX-License-Identifier: Apache-2.0

package memlimit

import (
	"math"
	"runtime/debug"
	"testing"
	"testing/fstest"
)

// system has files by path.
func system(files map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

const (
	version2 = "24 1 0:22 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
	version1 = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n" +
		"32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
)

func TestTheLimitIsTheSmallestOfTheGroupAndThoseAboveIt(t *testing.T) {
	for rule, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"a unit of systemd": {map[string]string{"proc/self/cgroup": "0::/system.slice/pnagent.service\n", "proc/self/mountinfo": version2,
			"sys/fs/cgroup/system.slice/pnagent.service/memory.max": "1073741824\n", "sys/fs/cgroup/system.slice/memory.max": "max\n"}, 1 << 30},
		"its slice has less": {map[string]string{"proc/self/cgroup": "0::/a/b\n", "proc/self/mountinfo": version2,
			"sys/fs/cgroup/a/b/memory.max": "900\n", "sys/fs/cgroup/a/memory.max": "800\n"}, 800},
		"it is slowed down before": {map[string]string{"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": version2,
			"sys/fs/cgroup/a/memory.max": "900\n", "sys/fs/cgroup/a/memory.high": "700\n"}, 700},
		"a container": {map[string]string{"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": version2, "sys/fs/cgroup/memory.max": "600"}, 600},
		"a container with the paths of its host": {map[string]string{"proc/self/cgroup": "0::/../pod/x\n",
			"proc/self/mountinfo": "24 1 0:22 /kubepods/pod /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "sys/fs/cgroup/memory.max": "500"}, 500},
		"version 1": {map[string]string{"proc/self/cgroup": "5:cpu:/x\n4:memory,blkio:/shop\n0::/\n", "proc/self/mountinfo": version1,
			"sys/fs/cgroup/memory/shop/memory.limit_in_bytes": "400\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 400},
		"version 1 in a container": {map[string]string{"proc/self/cgroup": "4:memory:/docker/x\n",
			"proc/self/mountinfo":                        "35 31 0:32 /docker/x /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "300\n"}, 300},
		"no limit":      {map[string]string{"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": version2, "sys/fs/cgroup/a/memory.max": "max\n"}, math.MaxInt64},
		"no mount":      {map[string]string{"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": "", "sys/fs/cgroup/a/memory.max": "1\n"}, math.MaxInt64},
		"other systems": {nil, math.MaxInt64},
		"damaged files": {map[string]string{"proc/self/cgroup": "0\n::\n0::\n", "proc/self/mountinfo": "a - b\n" + version2, "sys/fs/cgroup/memory.max": "-1"}, math.MaxInt64},
	} {
		if got := ofGroup(system(c.files)); got != c.want {
			t.Errorf("%s: got %d; want %d", rule, got, c.want)
		}
	}
}

func FuzzGroup(f *testing.F) {
	f.Add("0::/a/b\n", version2, "900\n")
	f.Add("4:memory:/shop\n", version1, "max")
	f.Fuzz(func(t *testing.T, groups, mounts, limit string) {
		got := ofGroup(system(map[string]string{"proc/self/cgroup": groups, "proc/self/mountinfo": mounts, "sys/fs/cgroup/memory.max": limit}))
		if got <= 0 {
			t.Errorf("got %d; want a positive limit", got)
		}
	})
}

func TestAHeapIsKeptSmallUnlessTheOperatorSaysOtherwise(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	t.Setenv("GOGC", "100")
	KeepSmall()
	if got := debug.SetGCPercent(100); got != 100 {
		t.Errorf("with GOGC=100 the heap grows by %d %%", got)
	}
	t.Setenv("GOGC", "")
	KeepSmall()
	if got := debug.SetGCPercent(100); got != quarterHeap {
		t.Errorf("without GOGC the heap grows by %d %%; want %d", got, quarterHeap)
	}
}
