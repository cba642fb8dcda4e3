package verify_test

import (
	"testing"

	"github.com/linerate-dev/linerate/internal/verify"
)

// What was measured and saved verifies, whatever procedure measured it.
func TestWhatWasMeasuredVerifies(t *testing.T) {
	for name, s := range scenes() {
		t.Run(name, func(t *testing.T) {
			r := s.compared(t).run(t)
			v := verify.Report(r, by)
			for _, f := range v.Findings() {
				t.Error(f.Message)
			}
			if v.Outcome != verify.Verified || v.Remark != "" || v.Windows == 0 || v.Figures == 0 || v.Criteria != 3 || !r.Result.Measured {
				t.Errorf("%+v; result: %s", v, r.Result.Message)
			}
			t.Log(v, v.NotVerified(), r.Result.Reason, r.Verdict)
		})
	}
}
