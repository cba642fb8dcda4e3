package deviceplugin_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	pluginapi "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

const patience = 20 * time.Second

// kubelet is the part of the real one that device plugins see, a registration server, and a client for each plugin
// that registers.
type kubelet struct {
	pluginapi.UnimplementedRegistrationServer
	t          *testing.T
	dir        string
	server     *grpc.Server
	registered chan *pluginapi.RegisterRequest
	refuse     error
}

// startKubelet does what a starting kubelet does, which removes all sockets, then makes its own.
func startKubelet(t *testing.T, dir string, refuse error) *kubelet {
	t.Helper()
	old, err := filepath.Glob(filepath.Join(dir, "*.sock"))
	if err != nil {
		t.Fatal(err)
	}
	for _, socket := range old {
		// a plugin whose registration was cut off takes its own away meanwhile
		if err := os.Remove(socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	listener, err := net.Listen("unix", filepath.Join(dir, "kubelet.sock"))
	if err != nil {
		t.Fatal(err)
	}
	k := &kubelet{t: t, dir: dir, server: grpc.NewServer(), registered: make(chan *pluginapi.RegisterRequest, 16),
		refuse: refuse}
	pluginapi.RegisterRegistrationServer(k.server, k)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = k.server.Serve(listener)
	}()
	t.Cleanup(func() {
		k.server.Stop()
		<-ended
	})
	return k
}

func (k *kubelet) Register(_ context.Context, r *pluginapi.RegisterRequest) (*pluginapi.Empty, error) {
	k.registered <- r
	return &pluginapi.Empty{}, k.refuse
}

// plugin waits for a registration and connects to who registered.
func (k *kubelet) plugin() client {
	k.t.Helper()
	var r *pluginapi.RegisterRequest
	select {
	case r = <-k.registered:
	case <-time.After(patience):
		k.t.Fatal("no plugin registered")
	}
	conn, err := grpc.NewClient("unix://"+filepath.Join(k.dir, r.GetEndpoint()),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(func() { _ = conn.Close() })
	return client{DevicePluginClient: pluginapi.NewDevicePluginClient(conn), t: k.t, request: r}
}

type client struct {
	pluginapi.DevicePluginClient
	t       *testing.T
	request *pluginapi.RegisterRequest
}

// watch returns what the plugin says, one text per change.
func (c client) watch() func() string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	c.t.Cleanup(cancel)
	stream, err := c.ListAndWatch(ctx, &pluginapi.Empty{})
	if err != nil {
		c.t.Fatal(err)
	}
	return func() string {
		c.t.Helper()
		list, err := stream.Recv()
		if err != nil {
			c.t.Fatal(err)
		}
		var texts []string
		for _, d := range list.GetDevices() {
			numa := "-"
			for _, n := range d.GetTopology().GetNodes() {
				numa = fmt.Sprint(n.GetID())
			}
			texts = append(texts, fmt.Sprintf("%s %s numa %s", d.GetID(), d.GetHealth(), numa))
		}
		return strings.Join(texts, "; ")
	}
}
