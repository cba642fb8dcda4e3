package loadtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// swollen is a Report with a long note, which no comparison needs. Compressed, it takes a thousandth.
func swollen(t *testing.T, name string, bytes int) (*corev1.ConfigMap, v1alpha1.ReportRef) {
	t.Helper()
	r := reporttest.Measured()
	r.Notes = append(r.Notes, report.Note{Message: strings.Repeat("x", bytes)})
	data, annotations, err := delivery.EncodeReport(r, true, 1)
	if err != nil {
		t.Fatal(err)
	}
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: name,
		Annotations: annotations}, BinaryData: data}
	return configMap, v1alpha1.ReportRef{ConfigMap: name, Digest: annotations[delivery.AnnotationDigest]}
}

// readsOf counts how many of the stored objects are read.
func readsOf(t *testing.T, reads *int, stored ...client.Object) *Reconciler {
	t.Helper()
	scheme, err := caches.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	counted := interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey,
		object client.Object, options ...client.GetOption) error {
		*reads++
		return c.Get(ctx, key, object, options...)
	}}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(stored...).WithInterceptorFuncs(counted).Build()
	return NewReconciler(c, nil, Options{Namespace: operatorNamespace})
}

// A hundred Reports of the largest size would take minutes to unpack. The reader reads those up to the bound,
// and reports the others.
func TestABaselineIsReadAsFarAsItsBound(t *testing.T) {
	tier.Plain(t)
	const reportBytes = 20 << 20
	test, reads := lonely("uid"), 0
	test.Spec.Baseline = &v1alpha1.BaselineSpec{}
	var stored []client.Object
	first, ref := swollen(t, "kept", reportBytes)
	for i := range 100 {
		configMap := first.DeepCopy()
		configMap.Name, ref.ConfigMap = fmt.Sprint("kept-", i), fmt.Sprint("kept-", i)
		stored, test.Spec.Baseline.Reports = append(stored, configMap), append(test.Spec.Baseline.Reports, ref)
	}
	r := readsOf(t, &reads, stored...)
	observed := &observation{Observed: lifecycle.Observed{Test: test}}
	if err := r.readBaseline(t.Context(), observed); err != nil {
		t.Fatal(err)
	}
	defer observed.releaseMemory()
	read := 0
	for i, source := range observed.Baseline.Sources {
		switch {
		case source.Report != nil && read == i && source.Fault == "":
			read++
		case source.Report != nil || source.Fault != tooMuch:
			t.Errorf("the Report %d: %q", i, source.Fault)
		}
	}
	if limit := maxUnpacked / reportBytes; read != limit || reads != limit+1 || len(observed.Baseline.Sources) != 100 {
		t.Errorf("of %d Reports %d were read, and %d are compared with", len(observed.Baseline.Sources), reads, read)
	}
}

// A Report is a baseline only if its run counts, and if the LoadTest that was judged by it, or the requested
// digest, proves its origin.
func TestWhichReportsAreNoBaseline(t *testing.T) {
	judgedBy := func(digest, reason string) *v1alpha1.LoadTest {
		test := lonely("uid-of-main")
		test.Name, test.Status.Report = "main", &v1alpha1.ReportReference{ConfigMap: "main-report", Digest: digest}
		test.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue,
			Reason: reason}}
		return test
	}
	configMap, ref := swollen(t, "main-report", 1)
	owned := configMap.DeepCopy()
	owned.OwnerReferences = []metav1.OwnerReference{{Kind: v1alpha1.LoadTestKind, Name: "main", UID: "uid-of-main",
		Controller: new(true)}}
	notFinal := configMap.DeepCopy()
	data, annotations, err := delivery.EncodeReport(reporttest.Measured(), false, 1)
	if err != nil {
		t.Fatal(err)
	}
	notFinal.BinaryData, notFinal.Annotations = data, annotations
	otherRef := v1alpha1.ReportRef{ConfigMap: ref.ConfigMap, Digest: "sha256:other"}
	undigested := v1alpha1.ReportRef{ConfigMap: ref.ConfigMap}
	for name, c := range map[string]struct {
		stored []client.Object
		ref    v1alpha1.ReportRef
		fault  string // empty: it is one
	}{
		"its own test was judged by it": {[]client.Object{owned, judgedBy(ref.Digest, v1alpha1.ReasonMeasured)},
			undigested, ""},
		"its own test was judged by another": {[]client.Object{owned,
			judgedBy("sha256:other", v1alpha1.ReasonMeasured)}, undigested, "somebody replaced it"},
		"a fault acted on its test": {[]client.Object{owned, judgedBy(ref.Digest, v1alpha1.ReasonDUTFailed)},
			ref, "ended without a measurement that counts (DUTFailed)"},
		"its digest is asked for":     {[]client.Object{configMap}, ref, ""},
		"another digest is asked for": {[]client.Object{configMap}, otherRef, "sha256:other is asked for"},
		"nobody says where it is from": {[]client.Object{configMap}, undigested,
			"nothing proves where it is from"},
		"its run may still be repeated": {[]client.Object{notFinal}, v1alpha1.ReportRef{ConfigMap: ref.ConfigMap,
			Digest: annotations[delivery.AnnotationDigest]}, "not final"},
		"it isn't there": {nil, ref, "there is no such ConfigMap"},
	} {
		t.Run(name, func(t *testing.T) {
			test := lonely("uid")
			test.Spec.Baseline = &v1alpha1.BaselineSpec{Reports: []v1alpha1.ReportRef{c.ref}}
			observed := &observation{Observed: lifecycle.Observed{Test: test}}
			if err := looking(t, c.stored...).readBaseline(t.Context(), observed); err != nil {
				t.Fatal(err)
			}
			defer observed.releaseMemory()
			source := observed.Baseline.Sources[0]
			if (source.Report != nil) != (c.fault == "") || (source.Fault == "") != (c.fault == "") ||
				!strings.Contains(source.Fault, c.fault) {
				t.Errorf("there is a Report: %v; %q, want %q", source.Report != nil, source.Fault, c.fault)
			}
		})
	}
}

func TestWhatOneReportMayTake(t *testing.T) {
	for name, c := range map[string]struct {
		sizes []delivery.Size
		fits  []bool
	}{
		"ordinary ones": {[]delivery.Size{{Bytes: 300 << 10, Elements: 1000}, {Bytes: 6 << 20, Elements: 30_000}},
			[]bool{true, true}},
		"one that takes more memory than there is": {[]delivery.Size{{Bytes: 32 << 20, Elements: 100_000},
			{Bytes: 300 << 10, Elements: 1000}}, []bool{false, true}},
		"more than may be unpacked": {[]delivery.Size{{Bytes: maxUnpacked / 2},
			{Bytes: maxUnpacked/2 + 1}, {Bytes: 1}}, []bool{true, false, false}},
	} {
		t.Run(name, func(t *testing.T) {
			remaining := baselineLeft{memory: baselineRoom, unpacked: maxUnpacked}
			for i, size := range c.sizes {
				if fits := remaining.fits(size); fits != c.fits[i] {
					t.Errorf("there is room for the %d. one: %v", i+1, fits)
				}
			}
		})
	}
}

// While other Reports take the memory, a baseline isn't read, and no worker waits for it. While a baseline is
// read, there is memory for other Reports.
func TestABaselineWaitsWithoutAWorker(t *testing.T) {
	test, reads := lonely("uid"), 0
	configMap, ref := swollen(t, "kept", 1)
	test.Spec.Baseline = &v1alpha1.BaselineSpec{Reports: []v1alpha1.ReportRef{ref}}
	r := readsOf(t, &reads, configMap)
	giveBack, err := r.options.Decoded.Take(t.Context(), caches.MaxDecoded/2)
	if err != nil {
		t.Fatal(err)
	}
	observed := &observation{Observed: lifecycle.Observed{Test: test}}
	if err := r.readBaseline(t.Context(), observed); !errors.Is(err, errBusy) || reads > 0 || observed.Baseline != nil {
		t.Errorf("it was read (%v)", err)
	}
	giveBack()
	if err := r.readBaseline(t.Context(), observed); err != nil || len(observed.Baseline.Sources) != 1 ||
		observed.Baseline.Sources[0].Report == nil {
		t.Errorf("it wasn't read, though there is room: %v", err)
	}
	if _, ok := r.options.Decoded.TryTake(caches.MaxDecoded / 4); !ok {
		t.Error("nobody else reads a Report meanwhile")
	}
	if err := r.readBaseline(t.Context(), observed); !errors.Is(err, errRoom) {
		t.Errorf("a pass takes room twice: %v", err)
	}
	observed.releaseMemory()
}
