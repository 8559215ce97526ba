// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"fmt"
	"net/http"
	"net/url"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/pnagent/pnagent/attach/internal/ledger"
)

// Access says how to reach a cluster.
type Access struct {
	Kubeconfig string // "" for the files of KUBECONFIG, ~/.kube/config, or the service account of the pod
	Context    string // of the kubeconfig; "" for its current one
}

// Cluster is an API server.
type Cluster struct {
	client *http.Client
	base   *url.URL
	clock  ledger.Clock
}

// Open returns a cluster, without connecting to it. The client reads a token file again as
// it changes, and runs the plugin that a kubeconfig names for credentials. The error wraps
// ErrConfig.
func Open(a Access) (*Cluster, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = a.Kubeconfig
	cfg, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: a.Context}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("%w: kubeconfig: %w", ErrConfig, err)
	}
	cfg.UserAgent = "pnagent"
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("%w: kubeconfig: %w", ErrConfig, err)
	}
	base, _, err := rest.DefaultServerUrlFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("%w: kubeconfig: %w", ErrConfig, err)
	}
	return &Cluster{client: client, base: base}, nil
}

// Close closes the connections that no request uses.
func (c *Cluster) Close() { c.client.CloseIdleConnections() }
