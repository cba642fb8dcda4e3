package loadtest

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// The bounds of the Reports of a baseline, up to a hundred of them.
const (
	// baselineRoom is how many bytes of memory the condensed Reports and the one being decoded may take
	// together. It is more than half of caches.MaxDecoded, so that only one test at a time reads its baseline,
	// and less than all, so that other tests' Reports can be read meanwhile.
	baselineRoom = 160 << 20
	// maxUnpacked is how many bytes of the Reports are unpacked. That takes a processor some seconds, and a
	// hundred of the largest Reports would take minutes.
	maxUnpacked = 128 << 20
)

// tooMuch is the fault of a baseline's Report that no longer fits after the Reports before it.
const tooMuch = "together with the Reports before it, it is too large to be compared with: name fewer Reports"

// readBaseline reads the test's baseline, once there is memory for it. A missing or unreadable baseline is no
// error, since its Fault says so.
func (r *reportReader) readBaseline(ctx context.Context, observed *observation) error {
	if observed.giveBack != nil {
		return errRoom
	}
	giveBack, ok := r.decoded.TryTake(baselineRoom)
	if !ok {
		return errBusy
	}
	observed.giveBack = giveBack
	spec, found := observed.Test.Spec.Baseline, lifecycle.Baseline{}
	refs := spec.Reports
	if spec.LoadTest != "" {
		ref, fault, err := r.reportOf(ctx, observed.Test.Namespace, spec.LoadTest)
		if err != nil {
			return err
		}
		found.Fault = fault
		refs = []v1alpha1.ReportRef{ref}
	}
	if found.Fault == "" {
		remaining := baselineLeft{memory: baselineRoom, unpacked: maxUnpacked}
		for _, ref := range refs {
			source, err := r.keptReport(ctx, observed.Test.Namespace, ref, &remaining)
			if err != nil {
				return err
			}
			found.Sources = append(found.Sources, source)
		}
	}
	observed.Baseline = &found
	return nil
}

// baselineLeft is how much memory there is for further Reports of a baseline, and how many bytes of them may
// still be unpacked.
type baselineLeft struct{ memory, unpacked int64 }

// full says that no further Report is read.
func (l *baselineLeft) full() bool { return l.unpacked < 0 }

// fits says that a Report of this size can be decoded. It counts the Report's bytes as unpacked either way.
func (l *baselineLeft) fits(size delivery.Size) bool {
	l.unpacked -= size.Bytes
	return !l.full() && size.Memory() <= l.memory
}

// condensed drops what no comparison needs from a Report, and returns how many bytes of memory the rest takes.
func condensed(r *report.Report) int64 {
	r.Samples, r.Observations, r.Notes = nil, nil, nil
	text, err := json.Marshal(r)
	if err != nil {
		return baselineRoom + 1
	}
	size, err := delivery.Measure(text)
	if err != nil {
		return baselineRoom + 1
	}
	return size.Memory()
}

// reportOf finds the Report of a measured LoadTest. fault says why the test isn't measured.
func (r *reportReader) reportOf(
	ctx context.Context, namespace, name string,
) (ref v1alpha1.ReportRef, fault string, err error) {
	var test v1alpha1.LoadTest
	switch err := r.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &test); {
	case apierrors.IsNotFound(err):
		return ref, "there is no such LoadTest in namespace " + namespace, nil
	case err != nil:
		return ref, "", fmt.Errorf("get the baseline: %w", err)
	}
	if fault := whyNoFigure(&test); fault != "" {
		return ref, fault, nil
	}
	return v1alpha1.ReportRef{ConfigMap: test.Status.Report.ConfigMap, Digest: test.Status.Report.Digest}, "", nil
}

// whyNoFigure says why a test publishes no figure. It is empty if the test publishes one.
func whyNoFigure(test *v1alpha1.LoadTest) string {
	switch complete := meta.FindStatusCondition(test.Status.Conditions, v1alpha1.ConditionComplete); {
	case complete == nil:
		return "it had not begun when this test began to measure"
	case complete.Status != metav1.ConditionTrue:
		return fmt.Sprintf("it was not complete (%s) when this test began to measure", complete.Reason)
	case complete.Reason != v1alpha1.ReasonMeasured || test.Status.Report == nil:
		return fmt.Sprintf("it ended without a measurement that counts (%s): %s", complete.Reason, complete.Message)
	}
	return ""
}

// keptReport reads a Report past the cache, as far as there is room for it.
func (r *reportReader) keptReport(ctx context.Context, namespace string, ref v1alpha1.ReportRef,
	remaining *baselineLeft) (lifecycle.BaselineSource, error) {
	source := lifecycle.BaselineSource{Name: ref.ConfigMap}
	if remaining.full() {
		source.Fault = tooMuch
		return source, nil
	}
	var configMap corev1.ConfigMap
	switch err := r.live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.ConfigMap}, &configMap); {
	case apierrors.IsNotFound(err):
		source.Fault = "there is no such ConfigMap in namespace " + namespace
		return source, nil
	case err != nil:
		return source, fmt.Errorf("read the baseline's report: %w", err)
	}
	size, err := delivery.SizeOf(configMap.BinaryData[delivery.KeyReport])
	// a Report without a size can't be decoded either, and that error says why
	if fits := remaining.fits(size); err == nil && !fits {
		source.Fault = tooMuch
		return source, nil
	}
	document, envelope, err := delivery.DecodeReport(configMap.BinaryData, configMap.Annotations)
	switch {
	case err != nil:
		source.Fault = err.Error()
	case ref.Digest != "" && ref.Digest != envelope.Digest:
		source.Fault = fmt.Sprintf("it holds the Report %s, and %s is asked for", envelope.Digest, ref.Digest)
	case !envelope.Final:
		source.Fault = "its Report is not final: the run may still be repeated"
	default:
		source.Report, source.Digest = document, envelope.Digest
	}
	if source.Fault, err = r.unpublished(ctx, &configMap, ref, source); source.Fault != "" {
		source.Report = nil
	}
	if source.Report != nil {
		remaining.memory -= condensed(source.Report)
	}
	return source, err
}

// unpublished says why a Report of a baseline doesn't count, unless a fault is known already. A test's own
// Report counts only if the test publishes its figure, since a fault may have influenced the measurement
// without the runner's knowledge. A kept Report belongs to no test, and anyone who may edit the namespace may
// make ConfigMaps there. So it counts only if its name matches its digest, or if spec.baseline gives that
// digest.
func (r *reportReader) unpublished(ctx context.Context, configMap *corev1.ConfigMap, ref v1alpha1.ReportRef,
	found lifecycle.BaselineSource) (fault string, err error) {
	if found.Fault != "" {
		return found.Fault, nil
	}
	var test v1alpha1.LoadTest
	owner := metav1.GetControllerOf(configMap)
	if owner != nil && owner.Kind == v1alpha1.LoadTestKind {
		err := r.client.Get(ctx, client.ObjectKey{Namespace: configMap.Namespace, Name: owner.Name}, &test)
		if client.IgnoreNotFound(err) != nil {
			return "", fmt.Errorf("get the test that the baseline's report is of: %w", err)
		}
	}
	if owner == nil || test.UID == "" || test.UID != owner.UID { // the ConfigMap has no owner, or its test is gone
		if ref.Digest == "" && !manifests.IsKept(configMap) {
			return "nothing proves where it is from: its name doesn't match its digest, and spec.baseline gives no " +
				"digest; add digest: " + found.Digest + " if it is the one that you mean", nil
		}
		return "", nil
	}
	if reason := whyNoFigure(&test); reason != "" {
		return fmt.Sprintf("LoadTest %s: %s", test.Name, reason), nil
	}
	if counted := test.Status.Report.Digest; counted != found.Digest {
		return fmt.Sprintf("it holds the Report %s, and LoadTest %s was judged by %s: somebody replaced it",
			found.Digest, test.Name, counted), nil
	}
	return "", nil
}
