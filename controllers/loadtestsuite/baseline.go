package loadtestsuite

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
)

// earlierSuite is the suite that this one is compared with, as far as it has been read.
type earlierSuite struct {
	uid     types.UID
	matrix  *suite.Matrix
	reading *suite.Reading
	// found is the result of reading it. It is nil until all is read.
	found *suite.Reference
}

// sheetsAtOnce is how many sheets of an earlier suite's runs one pass reads. Each takes a request, and decoding
// of some hundred runs. An earlier suite with a single sheet is read in one pass.
const sheetsAtOnce = 2

// readReference reads the earlier suite that a suite is compared with. It reads the suite's cells, and its
// stored runs. A missing or incomplete suite is no error. The suite is read once, in several passes if it is large.
func (r *Reconciler) readReference(ctx context.Context, observed *observation) (*suite.Reference, error) {
	if e := observed.notes.earlier; e != nil && e.found != nil {
		return e.found, nil
	}
	name := observed.Suite.Spec.Baseline.Suite
	fault := ""
	var earlier v1alpha1.LoadTestSuite
	switch err := r.client.Get(ctx, client.ObjectKey{Namespace: observed.Suite.Namespace, Name: name}, &earlier); {
	case apierrors.IsNotFound(err):
		fault = "there is no such LoadTestSuite in namespace " + observed.Suite.Namespace
	case err != nil:
		return nil, fmt.Errorf("get the suite to compare with: %w", err)
	default:
		fault = whyNoBaseline(&earlier)
	}
	if fault != "" {
		observed.notes.earlier = nil
		return &suite.Reference{Kind: suite.KindSuite, Name: name, Fault: fault}, nil
	}
	e := observed.notes.earlierSuite(&earlier)
	err := r.readOn(ctx, e.reading)
	spoilt, ok := errors.AsType[unreadable](err)
	switch stored := earlier.Status.Operator.StoredRuns; {
	case ok:
		fault = spoilt.Error()
	case err != nil:
		return nil, err
	case stored != nil && len(e.reading.Sheets) < int(stored.ConfigMaps):
		fault = fmt.Sprintf("%d of the %d ConfigMaps of its runs are gone",
			int(stored.ConfigMaps)-len(e.reading.Sheets), stored.ConfigMaps)
	}
	e.found = suite.ReferenceOf(e.matrix, e.reading.Runs)
	if fault != "" {
		e.found = &suite.Reference{Kind: suite.KindSuite, Name: name, Fault: fault}
	}
	e.reading = nil
	return e.found, nil
}

// readAhead reads, before the first test, the earlier suite that a suite is compared with, and which of the cluster's
// nodes take pods.
func (r *Reconciler) readAhead(ctx context.Context, observed *observation) (err error) {
	if observed.Ahead, err = r.readReference(ctx, observed); err != nil {
		return err
	}
	var nodes corev1.NodeList
	if err := r.client.List(ctx, &nodes); err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	if len(nodes.Items) == 0 { // it may not read them
		return nil
	}
	observed.Prospect.NodeFaults = map[string]string{}
	for i := range nodes.Items {
		observed.Prospect.NodeFaults[nodes.Items[i].Name] = nodeFault(&nodes.Items[i])
	}
	return nil
}

// nodeFault is why no pod can be placed on a node, and what to do. It is empty if pods can be.
func nodeFault(node *corev1.Node) string {
	if node.Spec.Unschedulable {
		return "which is cordoned: uncordon it (kubectl uncordon " + node.Name + ")"
	}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue {
			return "which isn't Ready: mend it"
		}
	}
	return ""
}

// readOn reads more of an earlier suite's runs. It returns no error once all have been read.
func (r *Reconciler) readOn(ctx context.Context, reading *suite.Reading) error {
	for range sheetsAtOnce {
		if reading.Complete {
			return nil
		}
		if _, err := r.readSheet(ctx, reading); err != nil {
			return fmt.Errorf("read the suite to compare with: %w", err)
		}
	}
	if !reading.Complete {
		return errMore
	}
	return nil
}

// earlierSuite is how far an earlier suite has been read. A new suite of the same name is read from its
// beginning.
func (n *notes) earlierSuite(s *v1alpha1.LoadTestSuite) *earlierSuite {
	if n.earlier == nil || n.earlier.uid != s.UID {
		matrix := suite.Expand(s.DeepCopy())
		n.earlier = &earlierSuite{uid: s.UID, matrix: matrix, reading: matrix.NewReading()}
	}
	return n.earlier
}

// whyNoBaseline says why a suite can't be compared with. It is empty if the suite can be, as far as it was
// measured.
func whyNoBaseline(s *v1alpha1.LoadTestSuite) string {
	switch c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionComplete); {
	case c == nil:
		return "it had not begun when this suite was over"
	case c.Status != metav1.ConditionTrue:
		return fmt.Sprintf("it was not complete (%s) when this suite was over", c.Reason)
	case c.Reason == v1alpha1.ReasonInvalid:
		return "it was refused, so nothing of it was measured"
	}
	return ""
}
