package kubectl

import (
	"context"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/test/api/operator/kube"
)

// wire is a connection to the API server that can be cut.
type wire struct {
	listener net.Listener
	to       string
	mutex    sync.Mutex
	cut      bool
	open     map[net.Conn]bool
}

func newWire(t *testing.T, to string) *wire {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{listener: l, to: to, open: map[net.Conn]bool{}}
	t.Cleanup(func() { _ = l.Close(); w.set(true) })
	go w.serve()
	return w
}

func (w *wire) serve() {
	for {
		c, err := w.listener.Accept()
		if err != nil {
			return
		}
		s, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", w.to)
		if err != nil || !w.keep(c, s) {
			_ = c.Close()
			continue
		}
		go func() { _, _ = io.Copy(s, c); _ = s.Close() }()
		go func() { _, _ = io.Copy(c, s); _ = c.Close() }()
	}
}

// keep notes connections; a wire that is cut keeps none.
func (w *wire) keep(ends ...net.Conn) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for _, c := range ends {
		if w.cut {
			_ = c.Close()
			continue
		}
		w.open[c] = true
	}
	return !w.cut
}

// set cuts the wire, or mends it.
func (w *wire) set(cut bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.cut = cut
	for c := range w.open {
		_ = c.Close()
	}
	w.open = map[net.Conn]bool{}
}

// connects gives the person a wire to the API server.
func (p *person) connects() *wire {
	p.Helper()
	u, err := url.Parse("https://" + trimmed(environment.Config.Host))
	p.must(err)
	w := newWire(p.T, u.Host)
	p.writeConfig(environment.KubeConfig, "https://"+w.listener.Addr().String())
	return w
}

func trimmed(host string) string {
	if u, err := url.Parse(host); err == nil && u.Host != "" {
		return u.Host
	}
	return host
}

func TestConnectionsAreLost(t *testing.T) {
	t.Run("a short outage isn't reported", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t)
		w := p.connects()
		p.creates("vpp-imix")
		watch := p.starts("kubectl linerate watch vpp-imix")
		watch.talk.await(t, "waiting for the operator")
		w.set(true)
		w.set(false)
		p.saysRunning("vpp-imix", 10)
		watch.talk.await(t, "ramping")
		p.saysMeasured("vpp-imix", passed)
		watch.ends().wants(t, 0, "OpenBSD 64b: 152 kpps west→east", "measured")
	})
	t.Run("a long outage is reported once, and what happened meanwhile is seen", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t)
		w := p.connects()
		p.creates("vpp-imix")
		watch := p.starts("kubectl linerate watch vpp-imix")
		watch.talk.await(t, "waiting for the operator")
		w.set(true)
		watch.talk.await(t, "the API server doesn't answer (")
		p.saysMeasured("vpp-imix", passed)
		w.set(false)
		watch.talk.await(t, "the API server answers again")
		watch.ends().wants(t, 0, "OpenBSD 64b: 152 kpps west→east", "measured")
	})
	t.Run("patience ends", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t)
		w := p.connects()
		p.creates("vpp-imix")
		watch := p.starts("kubectl linerate watch vpp-imix --patience 4s")
		watch.talk.await(t, "waiting for the operator")
		w.set(true)
		watch.ends().wants(t, 3, "", "can't be reached")
	})
	t.Run("a server that never answers is reported at once", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t)
		p.writeConfig(environment.KubeConfig, "https://127.0.0.1:1")
		for _, line := range []string{"kubectl linerate list", "kubectl linerate watch vpp-imix", "kubectl linerate stop vpp-imix"} {
			p.types(line).wants(t, 3, "", "the cluster https://127.0.0.1:1 can't be reached")
		}
		p.types("kubectl linerate doctor").wants(t, 3, "fail    API server: https://127.0.0.1:1 doesn't answer", "")
	})
	t.Run("a test that was deleted and made again meanwhile isn't the first one", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t)
		w := p.connects()
		p.creates("vpp-imix")
		watch := p.starts("kubectl linerate watch vpp-imix")
		watch.talk.await(t, "waiting for the operator")
		w.set(true)
		p.must(admin.Delete(t.Context(), p.test("vpp-imix")))
		p.creates("vpp-imix")
		w.set(false)
		watch.ends().wants(t, 3, "", "vpp-imix was deleted")
	})
}

// The API server itself ends, is away for a while, and comes back.
func TestTheAPIServerRestarts(t *testing.T) {
	dir := t.TempDir()
	own, stop, err := kube.StartWith([]string{"../../../config/crd/bases"}, func(server *envtest.APIServer) {
		server.CertDir = dir // or it would come back as another one
		server.StopTimeout = patience
		server.Configure().Set("request-timeout", "10s") // how long it waits for watchers at its end
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	}()
	shared, sharedAdmin := environment, admin
	defer func() { environment, admin = shared, sharedAdmin }()
	environment = own
	if admin, err = client.New(own.Config, client.Options{Scheme: sharedAdmin.Scheme()}); err != nil {
		t.Fatal(err)
	}
	p := newPerson(t)
	p.creates("vpp-imix")
	watch := p.starts("kubectl linerate watch vpp-imix")
	watch.talk.await(t, "waiting for the operator")
	p.write("router.yaml", aRelease)
	gate := p.starts(inTurns)
	measures := p.gated()
	gate.talk.await(t, "waiting for the operator")
	server := own.ControlPlane.GetAPIServer()
	p.must(server.Stop())
	watch.talk.await(t, "the API server doesn't answer (")
	p.must(server.Start())
	watch.talk.await(t, "the API server answers again")
	p.until("the server", func() bool { return admin.Get(t.Context(), keyOf(p, "vpp-imix"), &v1alpha1.LoadTest{}) == nil })
	p.saysMeasured("vpp-imix", passed)
	watch.ends().wants(t, 0, "OpenBSD 64b: 152 kpps west→east", "measured")
	p.saysMeasuredSuite(measures, v1alpha1.ReasonMeasured, slower(0))
	gate.ends().wants(t, 0, "Passed", "the API server answers again")
}
