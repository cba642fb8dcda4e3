package kubectl

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cli/kubectl/doctor"
	"github.com/linerate-dev/linerate/internal/document/exit"
)

// cluster is the API server as a person uses it, in one namespace.
type cluster struct {
	client    client.WithWatch
	config    *rest.Config
	namespace string
	explicit  bool // the command line names the namespace
}

// connect makes the client. It sends no request yet.
func (c *connection) connect() (*cluster, error) {
	config, err := c.rest()
	if err != nil {
		return nil, err
	}
	namespace, explicit, err := c.namespace()
	if err != nil {
		return nil, err
	}
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	direct, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, exit.NotMeasured("cluster %s: %w", config.Host, err)
	}
	return &cluster{client: direct, config: config, namespace: namespace, explicit: explicit}, nil
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(doctor.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return nil, fmt.Errorf("make the scheme: %w", err)
	}
	return scheme, nil
}

func (c *cluster) key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: c.namespace, Name: name}
}

// get reads a LoadTest.
func (c *cluster) get(ctx context.Context, name string) (*v1alpha1.LoadTest, error) {
	test := &v1alpha1.LoadTest{}
	if err := c.client.Get(ctx, c.key(name), test); err != nil {
		return nil, c.explain("get", c.key(name), err)
	}
	return test, nil
}

// getSuite reads a LoadTestSuite.
func (c *cluster) getSuite(ctx context.Context, name string) (*v1alpha1.LoadTestSuite, error) {
	suite := &v1alpha1.LoadTestSuite{}
	if err := c.client.Get(ctx, c.key(name), suite); err != nil {
		return nil, c.explainOf(v1alpha1.LoadTestSuiteKind, "get", c.key(name), err)
	}
	return suite, nil
}

// stop sets spec.stop of the test or suite with this UID. A later object of the same name stays as it is.
func (c *cluster) stop(ctx context.Context, o client.Object) error {
	patch := fmt.Appendf(nil, `{"metadata":{"uid":%q},"spec":{"stop":true}}`, o.GetUID())
	copied, _ := o.DeepCopyObject().(client.Object)
	err := c.client.Patch(ctx, copied, client.RawPatch(types.MergePatchType, patch))
	return c.explainOf(kindOf(o), "stop", client.ObjectKeyFromObject(o), err)
}

// remove deletes the test or suite with this UID, and its dependents. A missing one is no error. The error is the API
// server's own.
func (c *cluster) remove(ctx context.Context, o client.Object) error {
	uid := o.GetUID()
	return client.IgnoreNotFound(c.client.Delete(ctx, o, client.Preconditions{UID: &uid},
		client.PropagationPolicy(metav1.DeletePropagationBackground)))
}
