package lifecycle

import (
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/queue"
)

// The line counts devices. The API server has a pod's requests for these equal its limits.
func TestThePodsThatAreMadeAndThoseThatAreStillToBeMadeWantDevices(t *testing.T) {
	limits := func(pairs ...string) (c corev1.Container) {
		c.Resources.Limits = corev1.ResourceList{}
		for i := 0; i < len(pairs); i += 2 {
			c.Resources.Limits[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
		}
		return c
	}
	pod := func(name, attempt, node string, created time.Time) corev1.Pod {
		p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name,
			Labels: map[string]string{v1alpha1.LabelAttempt: attempt}, CreationTimestamp: metav1.NewTime(created)}}
		p.Spec.NodeName = node
		p.Spec.Containers = []corev1.Container{limits("intel.com/west", "2", "cpu", "1500m", "hugepages-1Gi", "2Gi",
			"kubernetes.io/batch", "3"), limits("intel.com/west", "1", "intel.com/east", "0")}
		return p
	}
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	test := &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "t"},
		Status: v1alpha1.LoadTestStatus{Attempt: 2}}
	o := Observed{Test: test, Children: Children{Pods: []corev1.Pod{pod("old", "1", "rack-1", noon),
		pod("made", "2", "", noon.Add(time.Hour)), pod("there", "2", "rack-2", noon.Add(time.Minute))}}}
	claim, holdings, claims := Claim(o, []Want{{"made", queue.Devices{"intel.com/west": 3}},
		{"to be made", queue.Devices{"intel.com/east": 1}}})
	west := queue.Devices{"intel.com/west": 3}
	want := []queue.Pod{{Devices: west}, {Node: "rack-2", Devices: west}, {Devices: queue.Devices{"intel.com/east": 1}}}
	if !claims || claim.Stage != queue.Placing || !claim.Began.Equal(noon.Add(time.Minute)) ||
		!reflect.DeepEqual(claim.Pods, want) {
		t.Errorf("claims %v: %+v", claims, claim)
	}
	if !reflect.DeepEqual(holdings, []queue.Holding{{Test: "lab/t", Node: "rack-1", Devices: west}}) {
		t.Errorf("held by pods of the attempt before: %+v", holdings)
	}
	test.Spec.Stop = true
	if _, holdings, claims = Claim(o, nil); claims || len(holdings) != 2 {
		t.Errorf("a test that stops claims %v, and its pods hold %+v", claims, holdings)
	}
}

func TestAClaimSaysHowLongTheProcedureTakesToItsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		procedure v1alpha1.ProcedureSpec
		want      time.Duration
	}{
		"all of its parts": {v1alpha1.ProcedureSpec{Ramp: v1alpha1.RampSpec{WarmupDuration: "30s",
			RampDuration: "10m", ConfirmDuration: "10s", HoldDuration: "30s"}}, 11*time.Minute + 10*time.Second},
		"parts that are left out": {v1alpha1.ProcedureSpec{Ramp: v1alpha1.RampSpec{WarmupDuration: "0s",
			RampDuration: "12s"}}, 12 * time.Second},
		"what isn't a duration": {v1alpha1.ProcedureSpec{Ramp: v1alpha1.RampSpec{WarmupDuration: "2s",
			RampDuration: "soon"}}, 2 * time.Second},
		"another type": {v1alpha1.ProcedureSpec{Type: v1alpha1.ProcedureMaximumOfferedLoad,
			MaximumOfferedLoad: v1alpha1.MaximumOfferedLoadSpec{TrialDuration: "1m", Trials: 3}}, 3 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			test := &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "t"}}
			test.Spec.Procedure = c.procedure
			claim, _, _ := Claim(Observed{Test: test}, nil)
			if claim.Takes != c.want {
				t.Errorf("%s, want %s", claim.Takes, c.want)
			}
		})
	}
}
