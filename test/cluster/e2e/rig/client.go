package rig

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
)

// newClient is the administrator's: it knows Kubernetes' own types and ours, and isn't slowed down by itself.
func newClient(kubeconfig string) (client.WithWatch, error) {
	return newClientAs(kubeconfig, rest.ImpersonationConfig{})
}

// ClientAs is a client with the rights of a user, who has only those that bindings give.
func (r *Rig) ClientAs(user string) (client.Client, error) {
	return newClientAs(r.Kubeconfig, rest.ImpersonationConfig{UserName: user, Groups: []string{"system:authenticated"}})
}

func newClientAs(kubeconfig string, user rest.ImpersonationConfig) (client.WithWatch, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	if err := lineratev1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", kubeconfig, err)
	}
	config.QPS, config.Burst, config.Impersonate = 100, 200, user
	return client.NewWithWatch(config, client.Options{Scheme: scheme})
}
