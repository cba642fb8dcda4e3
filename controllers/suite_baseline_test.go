package controllers

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

func TestWhichSuitesServeAsBaseline(t *testing.T) {
	for name, c := range map[string]struct {
		status metav1.ConditionStatus
		reason string
		want   string
	}{
		"measured":                        {metav1.ConditionTrue, v1alpha1.ReasonMeasured, ""},
		"measured in part: what there is": {metav1.ConditionTrue, v1alpha1.ReasonPartlyMeasured, ""},
		"stopped: what there is":          {metav1.ConditionTrue, v1alpha1.ReasonStopped, ""},
		"going on":                        {metav1.ConditionFalse, v1alpha1.ReasonRunning, "it was not complete (Running) when this suite was over"},
		"refused":                         {metav1.ConditionTrue, v1alpha1.ReasonInvalid, "it was refused"},
		"never looked at":                 {"", "", "it had not begun"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &v1alpha1.LoadTestSuite{}
			if c.status != "" {
				s.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionComplete, Status: c.status, Reason: c.reason}}
			}
			if got := whyNoBaseline(s); !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
				t.Errorf("it says %q, want %q", got, c.want)
			}
		})
	}
}
