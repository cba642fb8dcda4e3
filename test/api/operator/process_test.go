package operator

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/host/credential"
)

// The program itself: it says what it was started with, is ready when its caches are filled, works, minds nothing that was left by a test of a namespace
// that it can't see, and ends in order when it is told to, though it is just asking for more time as the leader.
func TestTheProgram(t *testing.T) {
	l := newLab(t)
	l.leftBehind("elsewhere")
	server := slowServer(l)
	p := l.startProgram(server.kubeconfig, "--health-address=127.0.0.1:0", "--metrics-address=0")
	p.await("alive", func() bool { return answers("http://" + p.healthAddress() + "/healthz") })
	p.await("ready", func() bool { return answers("http://" + p.healthAddress() + "/readyz") })
	test := minimal("program")
	l.wires(test)
	l.create(test)
	l.awaitPods("program")
	l.verifyByTheOperatorsKey(test)

	server.slow.Store(true)
	p.await("it to ask for more time", server.asked.Load)
	if err := p.end(); err != nil {
		t.Errorf("it ends with %v", err)
	}
	l.wellSpoken(p.said())
	lease := &coordinationv1.Lease{}
	l.must(admin.Get(t.Context(), client.ObjectKey{Namespace: operatorNamespace, Name: "linerate-manager"}, lease))
	if lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity != "" {
		t.Errorf("it is gone, and %s still leads", *lease.Spec.HolderIdentity)
	}
}

// verifyByTheOperatorsKey holds what the attempt's pods verify against the secret that the program made for itself: not one that everybody can compute.
func (l *lab) verifyByTheOperatorsKey(test *v1alpha1.LoadTest) {
	l.t.Helper()
	kept, key := &corev1.ConfigMap{}, credential.Key{}
	l.must(admin.Get(l.t.Context(), client.ObjectKey{Namespace: operatorNamespace, Name: "linerate-key"}, kept))
	l.must(key.UnmarshalText([]byte(kept.Data["key"])))
	if kept.Immutable == nil || !*kept.Immutable {
		l.t.Error("the operator's secret may be changed")
	}
	l.must(admin.Get(l.t.Context(), objectKey(test), test))
	want := "--verifier=" + key.Derive("attempt 1 of test "+string(test.UID)).Verifier().String()
	var pods corev1.PodList
	l.must(admin.List(l.t.Context(), &pods, client.InNamespace(l.namespace), client.MatchingLabels{v1alpha1.LabelRole: "generator"}))
	if len(pods.Items) == 0 {
		l.t.Error("there is no generator")
	}
	for _, p := range pods.Items {
		if !slices.Contains(p.Spec.Containers[0].Command, want) {
			l.t.Errorf("pod %s has the arguments %q, want %s", p.Name, p.Spec.Containers[0].Command, want)
		}
	}
}

// leftBehind makes a Lease of a physical port that a test of another namespace holds, such as one that the operator looked after once.
func (l *lab) leftBehind(namespace string) {
	l.t.Helper()
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: operatorNamespace, Name: "linerate-wire-" + l.namespace, Labels: map[string]string{"linerate.dev/wire": "true"},
			Annotations: map[string]string{"linerate.dev/node": nodeName, "linerate.dev/port": l.namespace + "/left"},
		},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: new(namespace + "/left/0d1c2b3a/1")},
	}
	l.must(admin.Create(l.t.Context(), lease))
	l.t.Cleanup(func() { l.must(admin.Delete(context.Background(), lease)) })
}

// slow is the API server for the operator's account, which can be slow to renew the leader's Lease: it lets one request for that hang, until who asked
// gives up.
type slow struct {
	kubeconfig  string
	slow, asked atomic.Bool
}

func slowServer(l *lab) *slow {
	l.t.Helper()
	config := as(operatorNamespace, operatorAccount)
	transport, err := rest.TransportFor(config)
	l.must(err)
	target, err := url.Parse(config.Host)
	l.must(err)
	s := &slow{}
	proxy := &httputil.ReverseProxy{Transport: transport, FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		renews := r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/leases/linerate-manager")
		if renews && s.slow.CompareAndSwap(true, false) {
			_, _ = io.Copy(io.Discard, r.Body) // only then is it seen that who asked is gone
			s.asked.Store(true)
			<-r.Context().Done()
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	l.t.Cleanup(served.Close)
	s.kubeconfig = kubeconfigOf(l.t, &clientcmdapi.Cluster{Server: served.URL}, &clientcmdapi.AuthInfo{})
	return s
}

// wellSpoken fails unless each line is JSON, the first says the options, and none is an error.
func (l *lab) wellSpoken(lines []string) {
	l.t.Helper()
	for i, line := range lines {
		var said struct {
			Level, Msg string
			Options    map[string]any
		}
		if err := json.Unmarshal([]byte(line), &said); err != nil || said.Level == "ERROR" {
			l.t.Errorf("it said (%v): %s", err, line)
		}
		if i == 0 && (said.Msg != "starting" || said.Options["image"] != "registry.lab/linerate:test") {
			l.t.Errorf("the first line is %s", line)
		}
	}
}

func answers(url string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	return response.Body.Close() == nil && response.StatusCode == http.StatusOK
}
