// SPDX-License-Identifier: Apache-2.0

package dipen

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// Bounds of answers of etcd.
const (
	maxAnswer = 64 << 20 // bytes of the answer to one request
	maxLine   = 32 << 20 // bytes of one line of a watch
	maxFault  = 4 << 10  // bytes of an error
	pageKeys  = 2000     // keys of one page
	pageNames = 200      // keys of one page where values come with them
)

// requestTimeout bounds a request other than a watch.
const requestTimeout = 10 * time.Second

// Etcd is how to reach etcd.
type Etcd struct {
	Endpoints []string // URLs of client ports, such as http://127.0.0.1:2379
	TLS       *tls.Config
	User      string // "" for no authentication
	Password  string
}

// gateway is a client of etcd's JSON gateway, at one endpoint at a time.
type gateway struct {
	client *http.Client
	cfg    Etcd
	at     int                    // the endpoint in use
	token  atomic.Pointer[string] // of the user; nil for none
}

// newGateway checks the endpoints.
func newGateway(cfg Etcd) (*gateway, error) {
	if len(cfg.Endpoints) == 0 {
		return nil, errors.New("no endpoint of etcd; expected a URL such as http://127.0.0.1:2379")
	}
	for i, e := range cfg.Endpoints {
		u, err := url.Parse(e)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
			return nil, fmt.Errorf("endpoint %d of etcd is not the URL of a server; expected one such as https://etcd-1:2379, without a user", i+1)
		}
		cfg.Endpoints[i] = strings.TrimSuffix(e, "/")
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = cfg.TLS
	t.ResponseHeaderTimeout = requestTimeout
	return &gateway{cfg: cfg, client: &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // the password is sent to no other server
	}}}, nil
}

// endpoint returns the URL in use.
func (g *gateway) endpoint() string { return g.cfg.Endpoints[g.at] }

// next switches to the next endpoint, which needs a new token.
func (g *gateway) next() {
	g.at = (g.at + 1) % len(g.cfg.Endpoints)
	g.token.Store(nil)
	g.client.CloseIdleConnections()
}

// login requests a token for the user, if there is one.
func (g *gateway) login(ctx context.Context) error {
	if g.cfg.User == "" {
		return nil
	}
	g.token.Store(nil)
	body, err := g.read(ctx, "/v3/auth/authenticate", map[string]string{"name": g.cfg.User, "password": g.cfg.Password})
	if err != nil {
		return fmt.Errorf("logging in as %q: %w", g.cfg.User, err)
	}
	var answer struct {
		Token string `json:"token"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || answer.Token == "" {
		return fmt.Errorf("logging in as %q: the answer has no token", g.cfg.User)
	}
	g.token.Store(&answer.Token)
	return nil
}

// ask sends a request and returns the whole answer. If the token has expired,
// it logs in and sends the request again.
func (g *gateway) ask(ctx context.Context, path string, request any) ([]byte, error) {
	body, err := g.read(ctx, path, request)
	if g.cfg.User == "" || err == nil || !errors.Is(err, errDenied) {
		return body, err
	}
	if err := g.login(ctx); err != nil {
		return nil, err
	}
	return g.read(ctx, path, request)
}

// read sends a request with the present token and returns the whole answer.
func (g *gateway) read(ctx context.Context, path string, request any) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	answer, err := g.post(ctx, path, request)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	body, err := io.ReadAll(io.LimitReader(answer, maxAnswer+1))
	if err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	if len(body) > maxAnswer {
		return nil, fmt.Errorf("%w: more than %d bytes", errTooLarge, maxAnswer)
	}
	return body, nil
}

// post sends a request and returns the answer, which the caller reads and closes.
func (g *gateway) post(ctx context.Context, path string, request any) (io.ReadCloser, error) {
	text, err := json.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("writing a request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, g.endpoint()+path, bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("writing a request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	if token := g.token.Load(); token != nil {
		req.Header.Set("Authorization", *token)
	}
	resp, err := g.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("asking etcd: %w", err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp.Body, nil
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxFault)) // as much as arrives
	var f fault
	if json.Unmarshal(body, &f) != nil || f.Message == "" {
		f.Message = fmt.Sprintf("%s: %.100s", resp.Status, body)
	}
	if resp.StatusCode == http.StatusUnauthorized {
		f.Code = codeUnauthenticated
	}
	return nil, f.err()
}

// rangeRequest is etcd's RangeRequest.
type rangeRequest struct {
	Key      []byte `json:"key"`
	End      []byte `json:"range_end,omitempty"`
	Limit    int64  `json:"limit,string,omitempty"`
	Revision int64  `json:"revision,string,omitempty"`
	KeysOnly bool   `json:"keys_only,omitempty"`
	Count    bool   `json:"count_only,omitempty"`
}

// newest returns the newest revision of all of etcd, and the id of the cluster.
func (g *gateway) newest(ctx context.Context, prefix string) (revision int64, cluster string, err error) {
	a, err := g.page(ctx, prefix, rangeRequest{Key: []byte(prefix), Count: true})
	if err != nil {
		return 0, "", err
	}
	return int64(a.Header.Revision), string(a.Header.Cluster), nil
}

// page returns the keys of a range, and whether there are more.
func (g *gateway) page(ctx context.Context, prefix string, r rangeRequest) (*rangeAnswer, error) {
	body, err := g.ask(ctx, "/v3/kv/range", r)
	if err != nil {
		return nil, err
	}
	return readRange(body, prefix)
}

// watch starts to watch all keys with a prefix from a revision on.
func (g *gateway) watch(ctx context.Context, prefix string, from int64) (io.ReadCloser, error) {
	create := map[string]any{"key": []byte(prefix), "range_end": after(prefix), "start_revision": fmt.Sprint(from),
		"prev_kv": true, "progress_notify": true, "fragment": true}
	return g.post(ctx, "/v3/watch", map[string]any{"create_request": create})
}

// after returns the first key after those with a prefix.
func after(prefix string) []byte {
	end := []byte(prefix)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i] < 0xff {
			end[i]++
			return end[:i+1]
		}
	}
	return []byte{0}
}
