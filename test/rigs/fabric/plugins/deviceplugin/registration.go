package deviceplugin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	pluginapi "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// registerLimit bounds a registration with a kubelet that doesn't answer.
const registerLimit = 5 * time.Second

// registration connects a pool and kubelet. It is a server at the pool's socket, announced at kubelet's socket. A
// kubelet that starts removes all sockets in the directory and makes its own again, so that a change of either socket
// means that the pool must register again. It belongs to one goroutine.
type registration struct {
	pool    *pool
	kubelet os.FileInfo // the socket that we are registered at
	socket  os.FileInfo
	server  *grpc.Server
	serving sync.WaitGroup
}

// ensure registers the pool again if it must, and returns why that can't be done yet.
func (w *registration) ensure(ctx context.Context) error {
	kubelet, err := os.Stat(w.kubeletSocket())
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("not there yet: no %s", w.kubeletSocket())
	}
	if err != nil {
		return fmt.Errorf("look for kubelet: %w", err)
	}
	socket, err := os.Stat(w.ownSocket())
	if err == nil && w.server != nil && sameSocket(socket, w.socket) && sameSocket(kubelet, w.kubelet) {
		return nil
	}
	w.close()
	if err := w.serve(); err != nil {
		return err
	}
	if err := w.register(ctx); err != nil {
		w.close()
		return err
	}
	w.kubelet = kubelet
	w.pool.log.Info("registered with kubelet")
	return nil
}

// sameSocket compares the times, too, as the inode of a removed socket is soon another's.
func sameSocket(a, b os.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.ModTime().Equal(b.ModTime())
}

func (w *registration) kubeletSocket() string {
	return filepath.Join(w.pool.options.SocketDir, "kubelet.sock")
}

// endpoint is the name of the pool's socket in kubelet's directory.
func (w *registration) endpoint() string {
	return "linerate-" + strings.ReplaceAll(w.pool.resource.Name, "/", "_") + ".sock"
}

func (w *registration) ownSocket() string {
	return filepath.Join(w.pool.options.SocketDir, w.endpoint())
}

func (w *registration) serve() error {
	if err := os.Remove(w.ownSocket()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove an old socket: %w", err)
	}
	listener, err := net.Listen("unix", w.ownSocket())
	if err != nil {
		return fmt.Errorf("serve kubelet: %w", err)
	}
	if w.socket, err = os.Stat(w.ownSocket()); err != nil {
		return errors.Join(fmt.Errorf("serve kubelet: %w", err), listener.Close())
	}
	w.server = grpc.NewServer()
	pluginapi.RegisterDevicePluginServer(w.server, w.pool)
	server := w.server
	w.serving.Go(func() { _ = server.Serve(listener) }) // its error is that it was stopped
	return nil
}

func (w *registration) register(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, registerLimit)
	defer cancel()
	conn, err := grpc.NewClient("unix://"+w.kubeletSocket(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return fmt.Errorf("reach kubelet: %w", err)
	}
	defer func() { _ = conn.Close() }()
	_, err = pluginapi.NewRegistrationClient(conn).Register(ctx, &pluginapi.RegisterRequest{
		Version: pluginapi.Version, Endpoint: w.endpoint(), ResourceName: w.pool.resource.Name,
		Options: &pluginapi.DevicePluginOptions{},
	})
	if err != nil {
		return fmt.Errorf("register with kubelet: %w", err)
	}
	return nil
}

// close ends the server and removes its socket.
func (w *registration) close() {
	if w.server != nil {
		w.server.Stop()
		w.serving.Wait()
	}
	w.server, w.socket, w.kubelet = nil, nil, nil
}
