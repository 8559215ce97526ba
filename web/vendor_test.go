// SPDX-License-Identifier: Apache-2.0

package web

import (
	"net/http"
	"os"
	"strings"
	"testing"
)

// What the page loads for BPMN files is in the program, with its licence.
func TestTheViewerOfBPMNIsServedWithItsLicence(t *testing.T) {
	st := newStage(t, nil)
	for name, kind := range map[string]string{"bpmn-navigated-viewer.js.gz": "text/javascript; charset=utf-8", "diagram-js.css.gz": "text/css; charset=utf-8",
		"bpmn-js.css.gz": "text/css; charset=utf-8", "LICENSE.txt": "text/plain; charset=utf-8"} {
		path := strings.TrimSuffix(name, ".gz")
		w := st.get("/vendor/bpmn-js/" + path)
		stored, err := os.ReadFile("page/vendor/bpmn-js/" + name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := (&file{text: stored, packed: strings.HasSuffix(name, ".gz")}).unpacked()
		if err != nil || w.Code != http.StatusOK || w.Body.String() != string(want) || w.Header().Get("Content-Type") != kind {
			t.Errorf("%s: %d, %s, %v", path, w.Code, w.Header().Get("Content-Type"), err)
		}
	}
	if w := st.get("/vendor/fetch"); w.Code != http.StatusNotFound {
		t.Errorf("the script is served: %d", w.Code)
	}
}
