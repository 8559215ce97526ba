// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"crypto/tls"
	"crypto/x509"
	"testing"

	"go.etcd.io/etcd/api/v3/authpb"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/pnagent/pnagent/attach/dipen"
)

// A user with read access to the prefix alone is sufficient: the adapter does not
// write, and reads nothing else.
func TestAReaderIsEnoughAndTLSIsSpoken(t *testing.T) {
	t.Parallel()
	e := startEtcd(t, true)
	m := emulate(e, 5)
	m.steps(40)
	allowReader(t, e)
	b := newBench(t)
	b.attach(e, func(c *dipen.Config) {
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(e.ca())
		c.Etcd.TLS = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}
		c.Etcd.User, c.Etcd.Password = "reader", "secret"
	})
	until(t, "etcd is watched and the marking is known", func() error {
		if d := tokensDiff(m, b); d != "" {
			return errText(d)
		}
		if !b.adapter.status().Connected {
			return errText("not connected")
		}
		return nil
	})
}

func allowReader(t *testing.T, e *etcd) {
	t.Helper()
	s, ctx := e.e.Server, t.Context()
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	add := func(name, password, role string) {
		t.Helper()
		must(s.RoleAdd(ctx, &pb.AuthRoleAddRequest{Name: role}))
		must(s.UserAdd(ctx, &pb.AuthUserAddRequest{Name: name, Password: password, Options: &authpb.UserAddOptions{}}))
		must(s.UserGrantRole(ctx, &pb.AuthUserGrantRoleRequest{User: name, Role: role}))
	}
	add("root", "root", "root")
	add("reader", "secret", "reads")
	must(s.RoleGrantPermission(ctx, &pb.AuthRoleGrantPermissionRequest{Name: "reads", Perm: &authpb.Permission{
		PermType: authpb.READ, Key: []byte(prefix), RangeEnd: []byte("nets/line0")}}))
	must(s.AuthEnable(ctx, &pb.AuthEnableRequest{}))
}
