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
	// baselineRoom is how many bytes of memory the condensed Reports and the one being decoded may take together: more than half of caches.MostDecoded, so that only one test at a
	// time reads its baseline, and not all of it, so that other tests' Reports can be read meanwhile.
	baselineRoom = 160 << 20
	// mostUnpacked is how many bytes of them are unpacked: that takes some seconds of a processor, and a hundred of the largest would take minutes.
	mostUnpacked = 128 << 20
)

// tooMuch is the fault of a baseline's Report that no longer fits after those before it.
const tooMuch = "together with the Reports before it, it is too large to be compared with: name fewer Reports"

// readBaseline reads the test's baseline, once there is memory for it. That there is none, or none that can be read, is no error: the baseline then says so.
func (r *Reconciler) readBaseline(ctx context.Context, observed *observation) error {
	if observed.giveBack != nil {
		return errRoom
	}
	giveBack, is := r.options.Decoded.TryTake(baselineRoom)
	if !is {
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
		left := baselineLeft{memory: baselineRoom, unpacked: mostUnpacked}
		for _, ref := range refs {
			source, err := r.keptReport(ctx, observed.Test.Namespace, ref, &left)
			if err != nil {
				return err
			}
			found.Sources = append(found.Sources, source)
		}
	}
	observed.Baseline = &found
	return nil
}

// baselineLeft is how much memory there is for further Reports of a baseline, and how many bytes of them may still be unpacked.
type baselineLeft struct{ memory, unpacked int64 }

// full says that no further Report is read.
func (l *baselineLeft) full() bool { return l.unpacked < 0 }

// has says whether a Report of this size can be decoded; its bytes are unpacked either way.
func (l *baselineLeft) has(size delivery.Size) bool {
	l.unpacked -= size.Bytes
	return !l.full() && size.Memory() <= l.memory
}

// condensed drops what no comparison needs from a Report, and says how many bytes of memory the rest takes.
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

// reportOf finds the Report of a LoadTest that is measured; fault says why it isn't one.
func (r *Reconciler) reportOf(ctx context.Context, namespace, name string) (ref v1alpha1.ReportRef, fault string, err error) {
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

// whyNoFigure says why a test publishes no figure; empty: it does.
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
func (r *Reconciler) keptReport(ctx context.Context, namespace string, ref v1alpha1.ReportRef, left *baselineLeft) (lifecycle.BaselineSource, error) {
	source := lifecycle.BaselineSource{Name: ref.ConfigMap}
	if left.full() {
		source.Fault = tooMuch
		return source, nil
	}
	var kept corev1.ConfigMap
	switch err := r.live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.ConfigMap}, &kept); {
	case apierrors.IsNotFound(err):
		source.Fault = "there is no such ConfigMap in namespace " + namespace
		return source, nil
	case err != nil:
		return source, fmt.Errorf("read the baseline's report: %w", err)
	}
	size, err := delivery.SizeOf(kept.BinaryData[delivery.KeyReport])
	if fits := left.has(size); err == nil && !fits { // what can't be measured can't be decoded either, which says why
		source.Fault = tooMuch
		return source, nil
	}
	document, envelope, err := delivery.DecodeReport(kept.BinaryData, kept.Annotations)
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
	if source.Fault, err = r.unpublished(ctx, &kept, ref, source); source.Fault != "" {
		source.Report = nil
	}
	if source.Report != nil {
		left.memory -= condensed(source.Report)
	}
	return source, err
}

// unpublished says why a Report of a baseline doesn't count, unless a fault is known already. A test's own Report counts only if the test publishes its figure: a fault may
// have influenced the measurement without the runner's noticing. A kept Report belongs to no test, and whoever edits the namespace may make ConfigMaps there: it counts only
// if its name matches its digest, or if spec.baseline gives that digest.
func (r *Reconciler) unpublished(ctx context.Context, kept *corev1.ConfigMap, ref v1alpha1.ReportRef, found lifecycle.BaselineSource) (fault string, err error) {
	if found.Fault != "" {
		return found.Fault, nil
	}
	var test v1alpha1.LoadTest
	owner := metav1.GetControllerOf(kept)
	if owner != nil && owner.Kind == v1alpha1.LoadTestKind {
		err := r.client.Get(ctx, client.ObjectKey{Namespace: kept.Namespace, Name: owner.Name}, &test)
		if client.IgnoreNotFound(err) != nil {
			return "", fmt.Errorf("get the test that the baseline's report is of: %w", err)
		}
	}
	if owner == nil || test.UID == "" || test.UID != owner.UID { // it is nobody's, or its test is gone
		if ref.Digest == "" && !manifests.IsKept(kept) {
			return "nothing proves where it is from: its name doesn't match its digest, and spec.baseline gives no digest; add digest: " + found.Digest + " if it is the one that you mean", nil
		}
		return "", nil
	}
	if why := whyNoFigure(&test); why != "" {
		return fmt.Sprintf("LoadTest %s: %s", test.Name, why), nil
	}
	if counted := test.Status.Report.Digest; counted != found.Digest {
		return fmt.Sprintf("it holds the Report %s, and LoadTest %s was judged by %s: somebody replaced it", found.Digest, test.Name, counted), nil
	}
	return "", nil
}
