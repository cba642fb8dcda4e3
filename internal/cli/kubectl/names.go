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

// A name is that of a LoadTest or of a LoadTestSuite of the namespace. Where there is one of each, the kind goes before it: suite/night.

// kindsOfNames are what may stand before a name, as kubectl has it.
func kindsOfNames() map[string]string {
	return map[string]string{
		"test": v1alpha1.LoadTestKind, "lt": v1alpha1.LoadTestKind, "loadtest": v1alpha1.LoadTestKind, "loadtests": v1alpha1.LoadTestKind,
		"suite": v1alpha1.LoadTestSuiteKind, "lts": v1alpha1.LoadTestSuiteKind, "loadtestsuite": v1alpha1.LoadTestSuiteKind, "loadtestsuites": v1alpha1.LoadTestSuiteKind,
	}
}

// parted are the kind that stands before a name, empty where there is none, and the name itself.
func parted(typed string) (kind, name string, err error) {
	before, after, has := strings.Cut(typed, "/")
	if !has {
		return "", typed, nil
	}
	before, _, _ = strings.Cut(strings.ToLower(before), ".") // loadtests.linerate.dev
	if kind = kindsOfNames()[before]; kind == "" || after == "" {
		return "", "", exit.BadInput("%q: write loadtest/NAME or suite/NAME, or the name alone", typed)
	}
	return kind, after, nil
}

// named is the test or the suite of a name.
func (c *cluster) named(ctx context.Context, typed string) (client.Object, error) {
	kind, name, err := parted(typed)
	switch {
	case err != nil:
		return nil, err
	case kind == v1alpha1.LoadTestKind:
		return found(c.get(ctx, name))
	case kind == v1alpha1.LoadTestSuiteKind:
		return found(c.getSuite(ctx, name))
	}
	return c.either(ctx, name)
}

// found is an object, or nil and an error.
func found[T client.Object](o T, err error) (client.Object, error) {
	if err != nil {
		return nil, err
	}
	return o, nil
}

// either is whichever of the two there is.
func (c *cluster) either(ctx context.Context, name string) (client.Object, error) {
	test, suite := &v1alpha1.LoadTest{}, &v1alpha1.LoadTestSuite{}
	err := c.client.Get(ctx, c.key(name), test)
	if err != nil && (!apierrors.IsNotFound(err) || unknownKind(err)) {
		return nil, c.explain("get", c.key(name), err)
	}
	suiteErr := c.client.Get(ctx, c.key(name), suite)
	switch {
	case err == nil && suiteErr == nil:
		return nil, exit.BadInput("there is a LoadTest %[1]s and a LoadTestSuite %[1]s in namespace %[2]s: write loadtest/%[1]s or suite/%[1]s", name, c.namespace)
	case err == nil: // whatever is wrong with suites, it isn't this test's business
		return test, nil
	case suiteErr == nil:
		return suite, nil
	case apierrors.IsNotFound(suiteErr) || meta.IsNoMatchError(suiteErr) || apierrors.IsForbidden(suiteErr):
		return nil, notThere("no LoadTest or LoadTestSuite %s in namespace %s: kubectl linerate list -A shows all", name, c.namespace)
	}
	return nil, c.explainOf(v1alpha1.LoadTestSuiteKind, "get", c.key(name), suiteErr)
}

// getAll reads tests and suites; what is wrong with any of them comes at once.
func (c *cluster) getAll(ctx context.Context, names []string) ([]client.Object, error) {
	var objects []client.Object
	var wrong []error
	for _, name := range names {
		o, err := c.named(ctx, name)
		objects, wrong = append(objects, o), append(wrong, err)
	}
	return objects, exit.Worst(wrong...)
}
