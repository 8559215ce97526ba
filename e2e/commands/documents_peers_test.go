// SPDX-License-Identifier: Apache-2.0

//go:build peers

package commands

import (
	"path/filepath"
	"regexp"
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/buildtest"
)

// The pages of largePeers are typed here, beside etcd and RabbitMQ.
func TestTheCommandsOfTheDocumentsBesideLargePeers(t *testing.T) {
	t.Parallel()
	begin := map[string]starter{"docs/attach/dipen.md": etcdFor, "docs/attach/scrape.md": rabbitFor}
	for _, page := range largePeers {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			typePage(t, page, commandsOf(t, page), begin[page])
		})
	}
}

// etcdFor builds etcd, of the module that tests package dipen with it. It listens at
// free ports.
func etcdFor(t *testing.T, ports ports, bin string) []string {
	t.Helper()
	if err := buildtest.Build(t.Context(), filepath.Join("..", "..", "attach", "dipen", "etcdtest"), filepath.Join(bin, "etcd"), "go.etcd.io/etcd/server/v3"); err != nil {
		t.Fatal(err)
	}
	const client, peer = "http://127.0.0.1:2379", "http://127.0.0.1:2380"
	var env []string
	for _, v := range []string{"ETCD_LISTEN_CLIENT_URLS=" + client, "ETCD_ADVERTISE_CLIENT_URLS=" + client, "ETCD_LISTEN_PEER_URLS=" + peer,
		"ETCD_INITIAL_ADVERTISE_PEER_URLS=" + peer, "ETCD_INITIAL_CLUSTER=default=" + peer} {
		env = append(env, ports.there.Replace(v))
	}
	return env
}

// rabbitFor starts RabbitMQ with the messages that the page shows: of 50, a consumer
// took 9 and acknowledged 2.
func rabbitFor(t *testing.T, ports ports, _ string) []string {
	t.Helper()
	broker := kit.StartRabbit(t, ports.there.Replace("15692"))
	broker.Connect(t).Publish(t, "orders", 50)
	consumer := broker.Connect(t)
	consumer.WriteFrame(t, "SUBSCRIBE", "id:1", "destination:/amq/queue/orders", "ack:client-individual", "prefetch-count:7")
	for range 2 {
		message := regexp.MustCompile(`(?m)^ack:(.*)$`).FindStringSubmatch(consumer.ReadFrame(t, "MESSAGE"))
		consumer.WriteFrame(t, "ACK", "id:"+message[1])
	}
	return nil
}
