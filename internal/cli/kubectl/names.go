package kubectl

import (
	"context"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/exit"
)

// A name is a LoadTest's or a LoadTestSuite's of the namespace. Where both exist, the kind stands before the
// name: suite/night.

// kindsOfPrefixes has what may stand before a name, as in kubectl, and the kind that it means.
func kindsOfPrefixes() map[string]string {
	return map[string]string{
		"test": v1alpha1.LoadTestKind, "lt": v1alpha1.LoadTestKind, "loadtest": v1alpha1.LoadTestKind,
		"loadtests": v1alpha1.LoadTestKind,
		"suite":     v1alpha1.LoadTestSuiteKind, "lts": v1alpha1.LoadTestSuiteKind,
		"loadtestsuite": v1alpha1.LoadTestSuiteKind, "loadtestsuites": v1alpha1.LoadTestSuiteKind,
	}
}

// splitKind splits a typed name into its kind, which may be empty, and the name itself.
func splitKind(typed string) (kind, name string, err error) {
	prefix, name, hasPrefix := strings.Cut(typed, "/")
	if !hasPrefix {
		return "", typed, nil
	}
	prefix, _, _ = strings.Cut(strings.ToLower(prefix), ".") // loadtests.linerate.dev
	if kind = kindsOfPrefixes()[prefix]; kind == "" || name == "" {
		return "", "", exit.BadInput("%q: write loadtest/NAME or suite/NAME, or the name alone", typed)
	}
	return kind, name, nil
}

// named reads the test or the suite of a typed name.
func (c *cluster) named(ctx context.Context, typed string) (client.Object, error) {
	kind, name, err := splitKind(typed)
	switch {
	case err != nil:
		return nil, err
	case kind == v1alpha1.LoadTestKind:
		return objectOrNil(c.get(ctx, name))
	case kind == v1alpha1.LoadTestSuiteKind:
		return objectOrNil(c.getSuite(ctx, name))
	}
	return c.testOrSuite(ctx, name)
}

// objectOrNil makes a typed nil pointer a nil interface.
func objectOrNil[T client.Object](o T, err error) (client.Object, error) {
	if err != nil {
		return nil, err
	}
	return o, nil
}

// testOrSuite reads the test or the suite of a name. It is an error if both exist.
func (c *cluster) testOrSuite(ctx context.Context, name string) (client.Object, error) {
	test, suite := &v1alpha1.LoadTest{}, &v1alpha1.LoadTestSuite{}
	err := c.client.Get(ctx, c.key(name), test)
	if err != nil && (!apierrors.IsNotFound(err) || unknownKind(err)) {
		return nil, c.explain("get", c.key(name), err)
	}
	suiteErr := c.client.Get(ctx, c.key(name), suite)
	switch {
	case err == nil && suiteErr == nil:
		return nil, exit.BadInput("there is a LoadTest %[1]s and a LoadTestSuite %[1]s in namespace %[2]s: write "+
			"loadtest/%[1]s or suite/%[1]s",
			name, c.namespace)
	case err == nil: // the test is found, though suites may be unreadable
		return test, nil
	case suiteErr == nil:
		return suite, nil
	case apierrors.IsNotFound(suiteErr) || meta.IsNoMatchError(suiteErr) || apierrors.IsForbidden(suiteErr):
		return nil, notFound("no LoadTest or LoadTestSuite %s in namespace %s: kubectl linerate list -A shows all",
			name, c.namespace)
	}
	return nil, c.explainOf(v1alpha1.LoadTestSuiteKind, "get", c.key(name), suiteErr)
}

// getAll reads tests and suites. Its error has all faults.
func (c *cluster) getAll(ctx context.Context, names []string) ([]client.Object, error) {
	var objects []client.Object
	var errs []error
	for _, name := range names {
		o, err := c.named(ctx, name)
		objects, errs = append(objects, o), append(errs, err)
	}
	return objects, exit.Worst(errs...)
}
