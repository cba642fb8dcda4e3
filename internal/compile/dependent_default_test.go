package compile_test

import (
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/compile"
)

// Each of these specs was refused for a value that its author didn't write.
func TestADefaultNeverRefusesWhatAUserWrote(t *testing.T) {
	server := newServer(t)
	for name, spec := range map[string]string{
		"a target below the usual warm-up":          "  procedure: {ramp: {targetRate: 500pps}}\n",
		"a target in percent below it":              "  procedure: {ramp: {targetRate: 0.01%}}\n",
		"steps longer than the usual ramp":          "  procedure: {ramp: {stepDuration: 15m}}\n",
		"a ramp shorter than the usual step":        "  procedure: {ramp: {rampDuration: 1s}}\n",
		"a ramp of a day":                           "  activeDeadline: 48h\n  procedure: {ramp: {rampDuration: 24h}}\n",
		"steps shorter than the usual settling":     "  procedure: {ramp: {rampDuration: 1m, stepDuration: 300ms}}\n",
		"settling longer than the usual step":       "  procedure: {ramp: {settleDuration: 3s}}\n",
		"a load shorter than the usual window":      "  procedure: {type: ConstantLoad, constantLoad: {duration: 5s}}\n",
		"a window longer than the usual load":       "  procedure: {type: ConstantLoad, constantLoad: {window: 2m}}\n",
		"a load of six days":                        "  activeDeadline: 168h\n  procedure: {type: ConstantLoad, constantLoad: {duration: 144h}}\n",
		"a curve from a rate in packets":            "  procedure: {type: FrameLoss, frameLoss: {maxRate: 2kpps}}\n",
		"a curve below the usual lowest load":       "  procedure: {type: FrameLoss, frameLoss: {maxRate: 5%}}\n",
		"a trial no longer than the usual burst":    "  procedure: {type: BackToBack, backToBack: {trialDuration: 2s}}\n",
		"a burst as long as the usual trial":        "  procedure: {type: BackToBack, backToBack: {maxBurstDuration: 10s}}\n",
		"trials longer than a goal's usual sum":     "  procedure: {type: Search, search: {goals: [{name: NDR, finalTrialDuration: 60s}]}}\n",
		"a soak shorter than the usual first trial": "  procedure: {type: Soak, soak: {lossRatio: 1%, duration: 4s}}\n",
		"a soak of five days":                       "  activeDeadline: 168h\n  procedure: {type: Soak, soak: {duration: 120h}}\n",
		"flows in random order":                     "  traffic: {flows: {order: Random}}\n",
	} {
		t.Run(name, func(t *testing.T) {
			if _, errs := compile.Compile(admit(t, server, spec+links)); len(errs) > 0 {
				t.Error(errs)
			}
		})
	}
}

func TestDurationsOfARampFitEachOther(t *testing.T) {
	const settle, ramp = "settleDuration must be at least 100ms shorter than stepDuration",
		"rampDuration must be at least stepDuration"
	server := newServer(t)
	for text, want := range map[string]string{
		"stepDuration: 1s, settleDuration: 900ms":   "",
		"stepDuration: 1s, settleDuration: 901ms":   settle,
		"stepDuration: 200ms, settleDuration: 0.1s": "",
		"stepDuration: 10s, rampDuration: 10s":      "",
		"stepDuration: 10s, rampDuration: 9.999s":   ramp,
	} {
		t.Run(text, func(t *testing.T) {
			_, errs := compile.Compile(admit(t, server, "  procedure: {ramp: {"+text+"}}\n"+links))
			if want == "" && len(errs) > 0 || want != "" && (len(errs) != 1 || !strings.Contains(errs[0].Error(), want)) {
				t.Errorf("%v, want %q", errs, want)
			}
		})
	}
}
