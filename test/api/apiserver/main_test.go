package apiserver

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/test/api/operator/kube"
)

// The server that all tests ask: typed, and as the bytes that a person wrote.
var (
	typed client.Client
	raw   *rest.RESTClient
)

func TestMain(m *testing.M) { kube.Main(m, connect) }

func connect(config *rest.Config) (err error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return err
	}
	if typed, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	ours := rest.CopyConfig(config)
	ours.APIPath, ours.GroupVersion = "/apis", &v1alpha1.GroupVersion
	ours.NegotiatedSerializer = clientgoscheme.Codecs.WithoutConversion()
	raw, err = rest.RESTClientFor(ours)
	return err
}
