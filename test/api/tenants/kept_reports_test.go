package tenants

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/delivery"
)

// A Report that is kept has no LoadTest that could vouch for it. Whoever edits the namespace makes up none, neither of a ConfigMap of theirs nor of one that is kept,
// and does with those that the operator kept what is theirs to do.
func TestKeptReportsCannotBeForged(t *testing.T) {
	l := newLab(t)
	all := l.forgers()
	editor, pipeline := all[0].client, all[1].client
	r := l.begin("author", "gone", external+"reportRetention: Keep\n")
	slow := r.measured()
	slow.Answer.Message = "slower than any release will be"
	data, annotations, err := delivery.EncodeReport(slow, true, 1)
	l.must(err)
	envelope, _ := delivery.ReadEnvelope(annotations)
	forged := func() *corev1.ConfigMap {
		return manifests.KeptConfigMap(r.test, manifests.KeptReport{Envelope: envelope, Packed: data[delivery.KeyReport], Method: r.plan.Method(), Finished: slow.Finished})
	}
	if !manifests.IsKept(forged()) {
		t.Fatal("what is forged would not be taken for a kept Report")
	}
	const says = "is a Report that linerate's operator kept"
	l.await("the policy of kept Reports", func() bool {
		err := editor.Create(t.Context(), forged(), client.DryRunAll)
		return apierrors.IsForbidden(err) && strings.Contains(err.Error(), says)
	})
	t.Run("made", func(t *testing.T) {
		answers(t, editor.Create(t.Context(), forged()), says)
		if err := pipeline.Create(t.Context(), forged()); !apierrors.IsForbidden(err) {
			t.Errorf("a pipeline: %v", err)
		}
	})
	patched := func(object *corev1.ConfigMap, patch string) error {
		return editor.Patch(t.Context(), object.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(patch)))
	}
	t.Run("made of a ConfigMap of their own", func(t *testing.T) {
		l := &lab{t: t, namespace: l.namespace}
		own := forged()
		delete(own.Labels, v1alpha1.LabelRole)
		l.must(editor.Create(t.Context(), own))
		answers(t, patched(own, `{"metadata":{"labels":{"linerate.dev/role":"kept-report"}}}`), "are the operator's to write")
		l.must(editor.Delete(t.Context(), own))
	})
	t.Run("and the operator keeps one, that others pin, label and delete", func(t *testing.T) {
		l := &lab{t: t, namespace: l.namespace}
		r.write(r.measured())
		test := l.operate("gone")
		if test.Status.Report == nil || test.Status.Report.KeptReport == "" {
			t.Fatalf("its Report isn't kept: %+v", test.Status.Report)
		}
		kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: test.Status.Report.KeptReport}}
		l.must(editor.Get(t.Context(), client.ObjectKeyFromObject(kept), kept))
		for what, patch := range map[string]string{
			"another test's":     `{"metadata":{"labels":{"linerate.dev/test":"other"}}}`,
			"another suite's":    `{"metadata":{"labels":{"linerate.dev/suite":"night"}}}`,
			"not the operator's": `{"metadata":{"labels":{"app.kubernetes.io/managed-by":null}}}`,
			"of no role":         `{"metadata":{"labels":{"linerate.dev/role":null}}}`,
			"of another digest":  `{"metadata":{"annotations":{"linerate.dev/digest":"sha256:0"}}}`,
			"without a digest":   `{"metadata":{"annotations":{"linerate.dev/digest":null}}}`,
		} {
			t.Run(what, func(t *testing.T) { answers(t, patched(kept, patch), "are the operator's to write") })
		}
		allowed(t, patched(kept, `{"metadata":{"labels":{"linerate.dev/pinned":"true","release":"1.4"},"annotations":{"seen":"yes"}}}`))
		allowed(t, patched(kept, `{"metadata":{"labels":{"linerate.dev/pinned":null}}}`))
		allowed(t, editor.Delete(t.Context(), kept))
	})
}
