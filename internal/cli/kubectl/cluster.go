package kubectl

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cli/kubectl/doctor"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// cluster is the API server as a person uses it.
type cluster struct {
	client    client.WithWatch
	config    *rest.Config
	namespace string
	given     bool // the command line names the namespace
}

// connect makes the client; nothing is asked yet.
func (c *connection) connect() (*cluster, error) {
	config, err := c.rest()
	if err != nil {
		return nil, err
	}
	namespace, given, err := c.namespace()
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
	return &cluster{client: direct, config: config, namespace: namespace, given: given}, nil
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		doctor.AddToScheme, v1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("make the scheme: %w", err)
		}
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

// stop asks for the end of this very test or suite, not of one of its name that came later.
func (c *cluster) stop(ctx context.Context, o client.Object) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": o.GetUID()}, "spec": map[string]any{"stop": true}})
	if err != nil {
		return err
	}
	key := client.ObjectKeyFromObject(o)
	copied, _ := o.DeepCopyObject().(client.Object)
	return c.explainOf(kindOf(o), "stop", key, c.client.Patch(ctx, copied, client.RawPatch(types.MergePatchType, patch)))
}

// remove deletes this very test or suite, with all that belongs to it; one that is gone is no error.
func (c *cluster) remove(ctx context.Context, o client.Object) error {
	return c.explainOf(kindOf(o), "delete", client.ObjectKeyFromObject(o), client.IgnoreNotFound(c.delete(ctx, o)))
}

// delete is remove with the server's own words.
func (c *cluster) delete(ctx context.Context, o client.Object) error {
	uid := o.GetUID()
	return c.client.Delete(ctx, o, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground))
}

// report reads a test's Report and holds it against the digests that its envelope and the test's status give.
func (c *cluster) report(ctx context.Context, test *v1alpha1.LoadTest) (*report.Report, error) {
	at := client.ObjectKeyFromObject(test)
	if test.Status.Report == nil {
		return nil, exit.NotMeasured("%w", noReport(test))
	}
	if why := test.Status.Report.NotPublished; why != "" {
		return nil, exit.NotMeasured("the Report of LoadTest %s in namespace %s was read, and couldn't be copied there: %s", at.Name, at.Namespace, why)
	}
	kept := &corev1.ConfigMap{}
	where := client.ObjectKey{Namespace: at.Namespace, Name: reportName(test)}
	if err := c.client.Get(ctx, where, kept); err != nil {
		return nil, c.explainReport(where, err)
	}
	r, digest, err := decodedReport(kept)
	if err != nil {
		return nil, fmt.Errorf("%w; create the test anew", err)
	}
	if want := test.Status.Report.Digest; want != digest {
		return nil, exit.NotMeasured("ConfigMap %s in namespace %s holds another report (%s) than the operator read (%s): somebody replaced it; create the test anew",
			where.Name, where.Namespace, digest, want)
	}
	return r, nil
}

func reportName(test *v1alpha1.LoadTest) string {
	if r := test.Status.Report; r != nil && r.ConfigMap != "" {
		return r.ConfigMap
	}
	return manifests.ReportName(test.Name)
}
