// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAStreamEndsWithItsLastLine(t *testing.T) {
	a := attach(t, nil)
	text := opened("a") + strings.Repeat("x", 3*MaxLine) + "\n" + opened("b") + strings.TrimSuffix(opened("c"), "\n")
	if err := a.Stream(t.Context(), io.MultiReader(strings.NewReader(text[:7]), strings.NewReader(text[7:]))); err != nil {
		t.Fatal(err)
	}
	if n := a.Nets()[0].Events; n != 3 || dropped(a) != "too_long 1" {
		t.Errorf("%d events; %s", n, dropped(a))
	}
}

func TestABodyIsUsedAsAWholeOrNotAtAll(t *testing.T) {
	a := attach(t, nil)
	server := httptest.NewServer(a.Handler())
	defer server.Close()
	post := func(body io.Reader) (int, string) {
		t.Helper()
		resp, err := http.Post(server.URL, "application/x-ndjson", body)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		if err = errors.Join(err, resp.Body.Close()); err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, strings.TrimSpace(string(text))
	}
	if code, text := post(strings.NewReader(opened("a") + "what\n" + opened("b"))); code != 200 || text != `{"lines":3,"dropped":{"not_json":1}}` {
		t.Errorf("%d %s", code, text)
	}
	if code, _ := post(strings.NewReader(strings.Repeat("x", MaxBody+1))); code != http.StatusRequestEntityTooLarge {
		t.Errorf("%d for a body that is too large", code)
	}
	if n := a.Nets()[0].Events; n != 2 {
		t.Errorf("%d events", n)
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestDatagramsHoldWholeLines(t *testing.T) {
	a := attach(t, nil)
	conn, err := ListenUDP("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- a.Datagrams(ctx, conn) }()
	to, err := net.Dial("udp", conn.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{strings.TrimSuffix(opened("a"), "\n"), opened("b") + opened("c"), opened("d")[:20]} {
		if _, err := to.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "three events and a piece", func() bool { return a.Nets()[0].Events == 3 && dropped(a) == "not_json 1" })
	if n := DatagramsLost(conn); n != 0 {
		t.Errorf("%d lost", n)
	}
	cancel()
	if err := errors.Join(to.Close()); err != nil || !errors.Is(<-done, context.Canceled) {
		t.Errorf("%v", err)
	}
}
