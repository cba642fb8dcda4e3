package loadtest

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

func TestWhatOfTheLabConcernsATest(t *testing.T) {
	condition := func(kind string, status metav1.ConditionStatus) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status}
	}
	onA := []v1alpha1.PodStatus{{Name: "imix-1-dut", Node: "a"}, {Name: "imix-1-generator-0"}}
	cases := map[string]struct {
		status v1alpha1.LoadTestStatus
		want   string
	}{
		"a new one": {want: "waiting,not over"},
		"one that waits": {status: v1alpha1.LoadTestStatus{Conditions: []metav1.Condition{condition("Scheduled",
			"False")}}, want: "waiting,not over"},
		"one half placed": {status: v1alpha1.LoadTestStatus{Conditions: []metav1.Condition{condition("Scheduled",
			"False")}, Pods: onA}, want: "waiting,node/a,not over"},
		"one that measures": {status: v1alpha1.LoadTestStatus{Conditions: []metav1.Condition{condition("Scheduled",
			"True")}, Pods: onA}, want: "node/a,not over"},
		"one that is over": {status: v1alpha1.LoadTestStatus{Conditions: []metav1.Condition{condition("Complete",
			"True")}, Pods: onA}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			want := slices.DeleteFunc(strings.Split(c.want, ","), func(s string) bool { return s == "" })
			if got := concerns(&v1alpha1.LoadTest{Status: c.status}); !slices.Equal(slices.Sorted(slices.Values(got)),
				slices.Sorted(slices.Values(want))) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
