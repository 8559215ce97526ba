// SPDX-License-Identifier: Apache-2.0

package bpmn

import "encoding/json"

// jsonText returns a text in quotes, as JSON and FEEL have it.
func jsonText(s string) string {
	out, _ := json.Marshal(s) // a text has no error
	return string(out)
}
