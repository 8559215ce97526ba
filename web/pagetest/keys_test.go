// SPDX-License-Identifier: Apache-2.0

//go:build peers

package pagetest

import (
	"fmt"
	"testing"

	"github.com/pnagent/pnagent/internal/browsertest"
)

// A browser moves the focus out of a closed dialog with its next frame. A key that comes before
// that is one for the page, also where the focus was in an input.
func aKeyRightAfterADialogIsForThePage(t *testing.T, chromium *browsertest.Browser) {
	b, f, _ := opened(t, chromium)
	for key, dialog := range map[string]string{"s": "#share", "?": "#help", "i": "dialog.instances"} {
		b.Keys(key)
		b.Until(fmt.Sprintf(`document.querySelector(%q)?.open`, dialog))
		browsertest.Eval[bool](b, fmt.Sprintf(`(() => {
			const dialog = document.querySelector(%q);
			dialog.querySelector('input, button').focus();
			dialog.close();
			document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 't', bubbles: true, cancelable: true }));
			return true;
		})()`, dialog))
		b.Until(`document.querySelector('.tables tbody tr')`)
		b.Keys("t")
		b.Until(`document.querySelector('#tables').hidden`)
	}
	b.Clean(f.addr, false)
}
