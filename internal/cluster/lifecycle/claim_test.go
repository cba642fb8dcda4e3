package lifecycle

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

func TestAClaimSaysHowLongTheProcedureTakesToItsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		procedure v1alpha1.ProcedureSpec
		want      time.Duration
	}{
		"all of its parts":        {v1alpha1.ProcedureSpec{Ramp: v1alpha1.RampSpec{WarmupDuration: "30s", RampDuration: "10m", ConfirmDuration: "10s", HoldDuration: "30s"}}, 11*time.Minute + 10*time.Second},
		"parts that are left out": {v1alpha1.ProcedureSpec{Ramp: v1alpha1.RampSpec{WarmupDuration: "0s", RampDuration: "12s"}}, 12 * time.Second},
		"what isn't a duration":   {v1alpha1.ProcedureSpec{Ramp: v1alpha1.RampSpec{WarmupDuration: "2s", RampDuration: "soon"}}, 2 * time.Second},
		"another type":            {v1alpha1.ProcedureSpec{Type: v1alpha1.ProcedureMaximumOfferedLoad, MaximumOfferedLoad: v1alpha1.MaximumOfferedLoadSpec{TrialDuration: "1m", Trials: 3}}, 3 * time.Minute},
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
