package loadtest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
)

var resourceOfTests = schema.GroupResource{Group: "linerate.dev", Resource: "loadtests"}

func TestWhatIsARefusalAndWhatIsAMoment(t *testing.T) {
	cases := map[string]struct {
		err                error
		refusal, transient bool
	}{
		"quota, policy, right": {err: apierrors.NewForbidden(resourceOfTests, "p", errors.New("exceeded quota")),
			refusal: true},
		"validation":    {err: apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "p", nil), refusal: true},
		"a bad request": {err: apierrors.NewBadRequest("spec.foo: unknown"), refusal: true},
		"too large":     {err: apierrors.NewRequestEntityTooLargeError("3 MB"), refusal: true},
		"a webhook is away": {err: apierrors.NewInternalError(errors.New("failed calling webhook")),
			transient: true},
		"too many requests":      {err: apierrors.NewTooManyRequests("slow down", 1), transient: true},
		"a timeout":              {err: apierrors.NewTimeoutError("slow", 1), transient: true},
		"the server is away":     {err: errors.New("connection refused")},
		"somebody else was here": {err: apierrors.NewConflict(resourceOfTests, "p", nil)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if isRefusal(c.err) != c.refusal || isTransient(c.err) != c.transient {
				t.Errorf("refusal %v, transient %v", isRefusal(c.err), isTransient(c.err))
			}
		})
	}
}

func TestAnInjectorThatCountsDevicesTwiceIsTold(t *testing.T) {
	pod := func(devices string) *corev1.Pod {
		limits := corev1.ResourceList{"cpu": resource.MustParse("4"), "hugepages-1Gi": resource.MustParse("2Gi")}
		if devices != "" {
			limits["intel.com/sriov"] = resource.MustParse(devices)
		}
		return &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "trex",
			Resources: corev1.ResourceRequirements{Limits: limits}}}}}
	}
	if got := changedDevices(pod("2"), pod("2")); got != "" {
		t.Errorf("nothing was changed, and it says %q", got)
	}
	for _, c := range [][2]string{{"2", "4"}, {"", "1"}} {
		if got := changedDevices(pod(c[0]), pod(c[1])); !strings.Contains(got, "intel.com/sriov") ||
			!strings.Contains(got, "to "+c[1]) {
			t.Errorf("from %q to %q it says %q", c[0], c[1], got)
		}
	}
	t.Run("one that takes devices away too", func(t *testing.T) {
		if got := changedDevices(pod("2"), pod("")); !strings.Contains(got, "from 2 to 0") {
			t.Errorf("it says %q", got)
		}
	})
}

// A patch replaces the whole list of finalizers, and the cache has linerate's own alone. Other people's
// finalizers stay all the same.
func TestFinalizersOfOthersStay(t *testing.T) {
	for name, c := range map[string]struct {
		stored, cached []string
		decision       lifecycle.Decision
		want           []string
	}{
		"the first one": {nil, nil, lifecycle.Decision{Protect: true}, []string{v1alpha1.FinalizerTeardown}},
		"beside others": {[]string{"others/one", "others/two"}, nil, lifecycle.Decision{Protect: true},
			[]string{"others/one", "others/two", v1alpha1.FinalizerTeardown}},
		"taken from others'": {[]string{"others/one", v1alpha1.FinalizerTeardown},
			[]string{v1alpha1.FinalizerTeardown}, lifecycle.Decision{Unprotect: true}, []string{"others/one"}},
		"taken, and none left": {[]string{v1alpha1.FinalizerTeardown}, []string{v1alpha1.FinalizerTeardown},
			lifecycle.Decision{Unprotect: true}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			test := lonely("uid")
			test.Finalizers = c.stored
			r := looking(t, test)
			current := func() (test v1alpha1.LoadTest) {
				if err := r.client.Get(t.Context(), client.ObjectKey{Namespace: "lab", Name: "t"}, &test); err != nil {
					t.Fatal(err)
				}
				return test
			}
			brief := current()
			brief.Finalizers = c.cached
			observed := &observation{Observed: lifecycle.Observed{Test: &brief}}
			if err := r.finalize(t.Context(), observed, c.decision); err != nil {
				t.Fatal(err)
			}
			if got := current(); !slices.Equal(got.Finalizers, c.want) ||
				got.ResourceVersion != observed.Test.ResourceVersion || !slices.Equal(observed.Test.Finalizers,
				c.want) {
				t.Errorf("it has the finalizers %q at version %s, and %q at version %s are decided from",
					got.Finalizers, got.ResourceVersion, observed.Test.Finalizers, observed.Test.ResourceVersion)
			}
		})
	}
	t.Run("of a test that was changed meanwhile", func(t *testing.T) {
		r := looking(t, lonely("uid"))
		old := lonely("uid")
		old.ResourceVersion = "1"
		err := r.finalize(t.Context(), &observation{Observed: lifecycle.Observed{Test: old}},
			lifecycle.Decision{Protect: true})
		if !apierrors.IsConflict(err) {
			t.Errorf("it is decided from a version that isn't any more: %v", err)
		}
	})
}

// Anyone who may edit the test's namespace may replace the copy of a Report that counted. A replaced copy isn't
// read.
func TestACopyThatWasReplacedIsNotRead(t *testing.T) {
	configMap, ref := swollen(t, "t-report", 1)
	for digest, says := range map[string]string{ref.Digest: "", "sha256:other": "somebody replaced it"} {
		test := lonely("uid")
		test.Status.Report = &v1alpha1.ReportReference{ConfigMap: configMap.Name, Digest: digest}
		test.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue,
			Reason: v1alpha1.ReasonMeasured}, {Type: v1alpha1.ConditionPublished, Status: metav1.ConditionTrue,
			Reason: v1alpha1.ReasonCopied}}
		observed := &observation{Observed: lifecycle.Observed{Test: test}}
		if err := looking(t, configMap).readReport(t.Context(), observed); err != nil {
			t.Fatal(err)
		}
		observed.releaseMemory()
		if c := observed.Children; (c.Report != nil) != (says == "") || !strings.Contains(c.ReportFault, says) {
			t.Errorf("judged by %s: there is a Report: %v; %q, want %q", digest, c.Report != nil, c.ReportFault, says)
		}
	}
}
