package gate

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/compile/admission"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/procedure/procedures"
)

// A gate that gives up before the traffic of a run may end would call a slow search Undecided.
func TestAGateWaitsAsLongAsARunMayTake(t *testing.T) {
	server, err := admission.NewServer()
	if err != nil {
		t.Fatal(err)
	}
	for name, procedure := range map[string]string{
		"by default":            "",
		"without a search":      "  procedure: {ramp: {precision: \"0%\"}}\n",
		"with a long staircase": "  procedure: {ramp: {stepDuration: 1s, settleDuration: 300ms, rampDuration: 30m}}\n",
		"with long windows": "  procedure: {ramp: {stepDuration: 30s, rampDuration: 10m, confirmDuration: 5m, " +
			"holdDuration: 20m}}\n",
		"with a deadline of its": "  activeDeadline: 3h\n",
	} {
		objects, err := server.Load("test.yaml", strings.NewReader(router+procedure))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		p, errs := compile.Compile(objects[0].LoadTest)
		if len(errs) > 0 {
			t.Fatalf("%s: %v", name, errs.ToAggregate())
		}
		deadline := p.ActiveDeadline.Std()
		p.ActiveDeadline = 0
		if got, unattended := longestRun(p), procedures.New(p.Procedure).Bound().Unattended(); got < unattended {
			t.Errorf("%s: a gate waits %v for a run whose traffic alone may take %v", name, got, unattended)
		}
		p.ActiveDeadline = plan.Duration(deadline)
		if got := longestRun(p); deadline > 0 && got > deadline+time.Minute {
			t.Errorf("%s: a gate waits %v for a run that is ended after %v", name, got, deadline)
		}
	}
}
