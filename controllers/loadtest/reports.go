package loadtest

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/controllers/pass"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/delivery"
)

// reportReader reads the Reports of tests and of their baselines, as far as there is memory for them.
type reportReader struct {
	*clients
	// namespace is the operator's own.
	namespace string
	decoded   *caches.Decoded
	// reports receives the Report of each test that ended, if it isn't nil.
	reports Reports
}

// errRoom keeps a pass that has a Report in memory from waiting for memory for another one.
var errRoom = pass.Wait("a pass reads one Report at a time", time.Second)

// errBusy means that there is no memory for a baseline's Reports while other tests' Reports are read.
var errBusy = pass.Wait("other tests' Reports are read first", time.Second)

// makeRoom waits until there is memory for a document that will be decoded for an observation.
func (r *reportReader) makeRoom(ctx context.Context, o *observation, bytes int64) (err error) {
	if o.giveBack != nil {
		return errRoom
	}
	o.giveBack, err = r.decoded.Take(ctx, bytes)
	return err
}

// readReport reads the Report past the cache, and judges it again. For a complete test it reads the copy, since
// the original is gone. Once the status has the digest of the Report that counted, only that Report is
// accepted. A missing or unreadable Report is no error, and becomes ReportFault.
func (r *reportReader) readReport(ctx context.Context, observed *observation) error {
	name := client.ObjectKey{Namespace: r.namespace, Name: manifests.OriginalName(observed.Test,
		lifecycle.Attempt(observed.Observed))}
	counted := observed.Test.Status.Report
	complete := meta.IsStatusConditionTrue(observed.Test.Status.Conditions, v1alpha1.ConditionComplete) &&
		counted != nil
	if complete && meta.IsStatusConditionTrue(observed.Test.Status.Conditions, v1alpha1.ConditionPublished) {
		name = client.ObjectKey{Namespace: observed.Test.Namespace, Name: counted.ConfigMap}
	}
	var configMap corev1.ConfigMap
	if err := r.live.Get(ctx, name, &configMap); apierrors.IsNotFound(err) {
		observed.Children.ReportFault = fmt.Sprintf("ConfigMap %s in namespace %s is gone", name.Name, name.Namespace)
		return nil
	} else if err != nil {
		return fmt.Errorf("read the report: %w", err)
	}
	size, err := delivery.SizeOf(configMap.BinaryData[delivery.KeyReport])
	if err != nil {
		observed.Children.ReportFault = fmt.Sprintf("ConfigMap %s: %s: %v", configMap.Name, delivery.KeyReport, err)
		return nil
	}
	if err := r.makeRoom(ctx, observed, size.Memory()); err != nil {
		return err
	}
	original, err := delivery.DecodeOriginal(configMap.BinaryData, configMap.Annotations)
	if err == nil && name.Namespace == r.namespace {
		original, err = lifecycle.Judged(original)
	}
	if err == nil && complete && original.Envelope.Digest != counted.Digest {
		err = fmt.Errorf("it holds another Report (%s) than the one that counted (%s): somebody replaced it",
			original.Envelope.Digest, counted.Digest)
	}
	if err != nil {
		observed.Children.ReportFault = fmt.Sprintf("ConfigMap %s: %v", configMap.Name, err)
		return nil
	}
	// The Report may have been written again since the cache saw it, so report and envelope must come from one read.
	c := &observed.Children
	c.Report, c.ReportPacked, c.Envelope, c.Followed, c.ReportWritten = original.Report, original.Packed,
		&original.Envelope, original.Followed, lastWritten(&configMap)
	if r.reports != nil {
		r.reports.Keep(observed.Test, original.Envelope.Digest, original.Report, size.Memory())
	}
	return nil
}

// lastWritten is when an object was last written, by the API server's clock, or zero if the object doesn't say.
func lastWritten(object client.Object) (latest time.Time) {
	for _, fields := range object.GetManagedFields() {
		if fields.Time != nil && fields.Time.After(latest) {
			latest = fields.Time.Time
		}
	}
	return latest
}
