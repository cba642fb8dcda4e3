package delivery

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
)

// gate stands between a runner and the API server, as the runner's own user: it counts requests, and can be cut as if the server were gone.
type gate struct {
	server *httptest.Server
	mutex  sync.Mutex
	asked  []string // method and path
	cut    bool
}

func newGate(t *testing.T, user string) *gate {
	t.Helper()
	config := rest.CopyConfig(admin)
	config.Impersonate = rest.ImpersonationConfig{UserName: user}
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(admin.Host)
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport = transport
	g.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g.closed(r) {
			panic(http.ErrAbortHandler) // the connection ends without an answer
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(g.server.Close)
	return g
}

func (g *gate) closed(r *http.Request) bool {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if !g.cut {
		g.asked = append(g.asked, r.Method+" "+r.URL.Path)
	}
	return g.cut
}

func (g *gate) set(cut bool) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.cut = cut
}

func (g *gate) requests() []string {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return append([]string(nil), g.asked...)
}

// kubeconfig is how a runner reaches the gate.
func (g *gate) kubeconfig() string {
	return `{"apiVersion": "v1", "kind": "Config", "current-context": "g", "contexts": [{"name": "g", "context": {"cluster": "g"}}],
		"clusters": [{"name": "g", "cluster": {"server": "` + g.server.URL + `"}}]}`
}

// copyBoth joins two connections until either ends.
func copyBoth(ctx context.Context, a, b io.ReadWriteCloser) {
	var both sync.WaitGroup
	stop := context.AfterFunc(ctx, func() { _ = a.Close(); _ = b.Close() })
	defer stop()
	for _, way := range [][2]io.ReadWriteCloser{{a, b}, {b, a}} {
		both.Go(func() {
			_, _ = io.Copy(way[0], way[1])
			_ = way[0].Close()
		})
	}
	both.Wait()
}
