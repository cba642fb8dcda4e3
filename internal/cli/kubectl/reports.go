package kubectl

import (
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// reports reads what tests and suites measured, from the ConfigMaps of a cluster.
type reports struct {
	*cluster
	stderr io.Writer // says which Report was read where the name alone doesn't
}

// ofTest reads a test's Report. It checks the digests that the Report's envelope and the test's status give.
func (r reports) ofTest(ctx context.Context, test *v1alpha1.LoadTest) (*report.Report, error) {
	if test.Status.Report == nil {
		return nil, exit.NotMeasured("%w", noReport(test))
	}
	if c := meta.FindStatusCondition(test.Status.Conditions, v1alpha1.ConditionPublished); c != nil &&
		c.Status == metav1.ConditionFalse {
		return nil, exit.NotMeasured("namespace %s has no copy of the Report of LoadTest %s: %s", test.Namespace,
			test.Name, c.Message)
	}
	object := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: test.Namespace, Name: reportName(test)}
	if err := r.client.Get(ctx, key, object); err != nil {
		return nil, r.explainRead(key, err)
	}
	document, digest, err := decodedReport(object)
	if err != nil {
		return nil, fmt.Errorf("%w; create the test anew", err)
	}
	if want := test.Status.Report.Digest; want != digest {
		return nil, exit.NotMeasured("ConfigMap %s in namespace %s holds another report (%s) than the operator read "+
			"(%s): somebody replaced it; create the test anew",
			key.Name, key.Namespace, digest, want)
	}
	return document, nil
}

// reportName is the name of the ConfigMap that holds a test's Report.
func reportName(test *v1alpha1.LoadTest) string {
	if r := test.Status.Report; r != nil && r.ConfigMap != "" {
		return r.ConfigMap
	}
	return manifests.ReportName(test.Name)
}

// ofSuite reads a suite's report and checks its digest. The status gives the same digest once the suite is
// complete. While a suite goes on, its report is a little ahead of the status.
func (r reports) ofSuite(ctx context.Context, suite *v1alpha1.LoadTestSuite) (*report.Suite, error) {
	reference := suite.Status.Report
	if reference == nil {
		return nil, exit.NotMeasured("%w", noReport(suite))
	}
	object := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: suite.Namespace, Name: reference.ConfigMap}
	if err := r.client.Get(ctx, key, object); err != nil {
		return nil, r.explainRead(key, err)
	}
	document, err := delivery.DecodeSuite(object.BinaryData, object.Annotations)
	switch digest := object.Annotations[delivery.AnnotationDigest]; {
	case err != nil:
		return nil, exit.NotMeasured("ConfigMap %s in namespace %s: %w: it isn't what the operator wrote", key.Name,
			key.Namespace, err)
	case document.UID != string(suite.UID):
		return nil, exit.NotMeasured("ConfigMap %s in namespace %s holds the report of another suite of this name, "+
			"which is gone",
			key.Name, key.Namespace)
	case endOf(suite) != nil && reference.Digest != "" && reference.Digest != digest:
		return nil, exit.NotMeasured("ConfigMap %s in namespace %s holds another report (%s) than the operator wrote "+
			"(%s): somebody replaced it",
			key.Name, key.Namespace, digest, reference.Digest)
	}
	return document, nil
}

// explainRead explains why the ConfigMap of a Report can't be read.
func (r reports) explainRead(key client.ObjectKey, err error) error {
	switch {
	case apierrors.IsNotFound(err):
		return exit.NotMeasured("ConfigMap %s in namespace %s is gone, and the Report with it: status.summary has "+
			"the result in one line; create the test anew for more",
			key.Name, key.Namespace)
	case apierrors.IsForbidden(err):
		return exit.NotMeasured("you may not read ConfigMap %s in namespace %s, which holds the Report: ask its "+
			"admin for the role view there; the server says: %w",
			key.Name, key.Namespace, err)
	}
	return r.explain("read the Report of", client.ObjectKey{Namespace: key.Namespace}, err)
}

// add reads the Report of a test or a suite, and appends it to documents.
func (r reports) add(ctx context.Context, o client.Object, documents *report.Documents) error {
	switch o := o.(type) {
	case *v1alpha1.LoadTestSuite:
		s, err := r.ofSuite(ctx, o)
		if err != nil {
			return err
		}
		documents.Suites = append(documents.Suites, s)
		return nil
	case *v1alpha1.LoadTest:
		t, err := r.ofTest(ctx, o)
		if err != nil {
			return err
		}
		documents.Reports = append(documents.Reports, withoutFigures(o, t))
		return nil
	}
	return fmt.Errorf("%T has no Report", o)
}

// addNamed appends the Report of the test, the suite or the deleted test of a name. Stderr says where a suite
// goes on, or which of a deleted test's Reports it is.
func (r reports) addNamed(ctx context.Context, name string, documents *report.Documents) error {
	o, err := r.named(ctx, name)
	switch {
	case isAbsent(err):
		t, err := r.ofDeleted(ctx, name, err)
		if err == nil {
			documents.Reports = append(documents.Reports, t)
		}
		return err
	case err != nil:
		return err
	}
	if suite, ok := o.(*v1alpha1.LoadTestSuite); ok && endOf(suite) == nil && suite.Status.Report != nil {
		fmt.Fprintf(r.stderr, "%s isn't over (%s): this is what was measured so far\n", suite.Name,
			momentOf(suite).sentence())
	}
	return r.add(ctx, o, documents)
}

// ofEnded reads the Reports of tests and suites that have ended. A test without a Report is part of the error.
func (r reports) ofEnded(ctx context.Context, objects []client.Object) (report.Documents, error) {
	var documents report.Documents
	var errs []error
	for _, o := range objects {
		code := codeOfEnd(endOf(o))
		if reportOf(o) == nil {
			errs = append(errs, exit.WithCode(code, noReport(o)))
			continue
		}
		if err := r.add(ctx, o, &documents); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", o.GetName(), err))
			continue
		}
		errs = append(errs, exit.WithCode(code, nil))
	}
	return documents, exit.Worst(append(errs, exit.WithCode(documents.ExitCode(), nil))...)
}
