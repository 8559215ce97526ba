// SPDX-License-Identifier: Apache-2.0

package telemetry

import "testing"

func TestWhichOfTwoOwnersIsTheLaterOne(t *testing.T) {
	for rule, c := range map[string]struct{ earlier, later Claim }{
		"the higher fence of one log, whatever the epochs":                 {Claim{Fence: 4, Since: 7, Epoch: 90}, Claim{Fence: 5, Since: 7, Epoch: 80}},
		"the higher fence where no log is known":                           {Claim{Fence: 4, Epoch: 90}, Claim{Fence: 5, Epoch: 80}},
		"a log created after the other owner began":                        {Claim{Fence: 9, Since: 7, Epoch: 20}, Claim{Fence: 1, Since: 21, Epoch: 30}},
		"that log, of a process whose clock is behind":                     {Claim{Fence: 9, Since: 7, Epoch: 20}, Claim{Fence: 1, Since: 21, Epoch: 10}},
		"a log created after the other log, whose owner's clock is behind": {Claim{Fence: 9, Since: 20, Epoch: 7}, Claim{Fence: 1, Since: 21, Epoch: 30}},
		"a log created where none was known":                               {Claim{Fence: 9, Epoch: 20}, Claim{Fence: 1, Since: 21, Epoch: 30}},
		"the higher fence of a log that was there before":                  {Claim{Fence: 1, Since: 20, Epoch: 21}, Claim{Fence: 2, Since: 7, Epoch: 20}},
		"the higher fence where none was created afterwards":               {Claim{Fence: 1, Since: 20, Epoch: 22}, Claim{Fence: 2, Since: 7, Epoch: 30}},
	} {
		if got, back := c.later.Compare(c.earlier), c.earlier.Compare(c.later); got != 1 || back != -1 {
			t.Errorf("%s: %d, and %d with the arguments exchanged; want 1 and -1", rule, got, back)
		}
	}
	for _, c := range []Claim{{Fence: 5, Since: 7, Epoch: 8}, {Fence: 5, Since: 9, Epoch: 8}} {
		if got := c.Compare(Claim{Fence: 5, Since: c.Since, Epoch: 6}); got != 0 {
			t.Errorf("two claims with one fence of a log: %d; want 0", got)
		}
	}
}
