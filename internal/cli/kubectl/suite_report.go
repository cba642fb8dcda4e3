package kubectl

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// suiteReport reads a suite's report and holds it against its digest; that of a suite which is over also against the one that its status gives.
// While the suite goes on, the report is a little ahead of the status.
func (c *cluster) suiteReport(ctx context.Context, suite *v1alpha1.LoadTestSuite) (*report.Suite, error) {
	at := suite.Status.Report
	if at == nil {
		return nil, exit.NotMeasured("%w", noReport(suite))
	}
	kept := &corev1.ConfigMap{}
	where := client.ObjectKey{Namespace: suite.Namespace, Name: at.ConfigMap}
	if err := c.client.Get(ctx, where, kept); err != nil {
		return nil, c.explainReport(where, err)
	}
	s, err := delivery.DecodeSuite(kept.BinaryData, kept.Annotations)
	switch is := kept.Annotations[delivery.AnnotationDigest]; {
	case err != nil:
		return nil, exit.NotMeasured("ConfigMap %s in namespace %s: %w: it isn't what the operator wrote", where.Name, where.Namespace, err)
	case s.UID != string(suite.UID):
		return nil, exit.NotMeasured("ConfigMap %s in namespace %s holds the report of another suite of this name, which is gone", where.Name, where.Namespace)
	case endOf(suite) != nil && at.Digest != "" && at.Digest != is:
		return nil, exit.NotMeasured("ConfigMap %s in namespace %s holds another report (%s) than the operator wrote (%s): somebody replaced it", where.Name, where.Namespace, is, at.Digest)
	}
	return s, nil
}
