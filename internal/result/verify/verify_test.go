package verify_test

import (
	"slices"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/verify"
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
			if v.Outcome != verify.Verified || v.Remark != "" || v.Windows == 0 || v.Figures == 0 || v.Criteria != 3 || !r.Answer.Measured {
				t.Errorf("%+v; result: %s", v, r.Answer.Message)
			}
			t.Log(v, v.NotVerified(), r.Answer.Reason, r.Verdict)
		})
	}
}

// Each check finds what is its own: where it isn't made, or finds nothing, what others find hides that.
func TestEachCheckFindsItsOwn(t *testing.T) {
	s := ramp().compared(t)
	measured := s.run(t)
	for check, c := range map[verify.CheckName]struct {
		change func(*report.Report)
		finds  string // the field
	}{
		verify.CheckDocument:    {func(r *report.Report) { r.Windows[1].Directions = r.Windows[1].Directions[:1] }, "directions"},
		verify.CheckTimes:       {func(r *report.Report) { r.Finished = r.Started.Add(5 * time.Second) }, "start"},
		verify.CheckEnvironment: {func(r *report.Report) { r.Environment.Linerate += ", mended" }, "linerate"},
		verify.CheckWindows:     {func(r *report.Report) { r.Windows[1].Directions[0].Received.PacketsPerSecond++ }, "received.packetsPerSecond"},
		verify.CheckProcedure:   {func(r *report.Report) { r.Windows[1].Load++ }, "load"},
		verify.CheckTotals:      {func(r *report.Report) { r.Totals[0].Returned.Packets /= 2 }, "returned.packets"},
		verify.CheckResult:      {func(r *report.Report) { r.Answer.Resolution++ }, "resolution"},
		verify.CheckFigures:     {func(r *report.Report) { r.Figures[0].Confirmed = !r.Figures[0].Confirmed }, "confirmed"},
		verify.CheckVerdict:     {func(r *report.Report) { r.Verdict.Outcome = report.DidFail }, "outcome"},
	} {
		t.Run(string(check), func(t *testing.T) {
			r := stored(t, measured)
			c.change(r)
			checks := verify.Report(r, by).Checks
			i := slices.IndexFunc(checks, func(made verify.Check) bool { return made.Name == check })
			if i < 0 || !slices.ContainsFunc(checks[i].Findings, func(f verify.Finding) bool { return f.Field == c.finds }) {
				t.Errorf("it finds no %s: %+v", c.finds, checks)
			}
		})
	}
}

// TestAWindowThatRunTookIsOfItsStepsLength: on a busy machine a window of 700 ms lasts 800 once it was looked at
// again, and seconds where its last counters come late; what run takes, verify takes, and no more.
func TestAWindowThatRunTookIsOfItsStepsLength(t *testing.T) {
	s := ramp().compared(t)
	s.plan.Procedure.Ramp.StepDuration, s.plan.Procedure.Ramp.SettleDuration = seconds(1), plan.Duration(300*time.Millisecond)
	measured := s.run(t)
	i := slices.IndexFunc(measured.Windows, func(w report.Window) bool { return w.Duration == plan.Duration(700*time.Millisecond) })
	if i < 0 {
		t.Fatal("no window of 700 ms")
	}
	for took, wants := range map[time.Duration]bool{ // whether it is found
		800_379_911: false, 769_000_000: false, 631_000_000: false, 2_800_000_000: false, 8_900_000_000: true,
		600_000_000: true,
	} {
		r := stored(t, measured)
		r.Windows[i].Duration = plan.Duration(took)
		checks := verify.Report(r, by).Checks
		at := slices.IndexFunc(checks, func(made verify.Check) bool { return made.Name == verify.CheckProcedure })
		if found := slices.ContainsFunc(checks[at].Findings, func(f verify.Finding) bool { return f.Field == "duration" }); found != wants {
			t.Errorf("%s: found %v, want %v: %+v", took, found, wants, checks[at].Findings)
		}
	}
}
