package compile_test

import (
	"strings"
	"testing"
	"time"

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
		"a ramp of a day":                           "  procedure: {ramp: {rampDuration: 24h}}\n",
		"steps shorter than the usual settling":     "  procedure: {ramp: {rampDuration: 1m, stepDuration: 300ms}}\n",
		"settling longer than the usual step":       "  procedure: {ramp: {settleDuration: 3s}}\n",
		"a load shorter than the usual window":      "  procedure: {type: ConstantLoad, constantLoad: {duration: 5s}}\n",
		"a window longer than the usual load":       "  procedure: {type: ConstantLoad, constantLoad: {window: 2m}}\n",
		"a load of six days":                        "  procedure: {type: ConstantLoad, constantLoad: {duration: 144h}}\n",
		"a curve from a rate in packets":            "  procedure: {type: FrameLoss, frameLoss: {maxRate: 2kpps}}\n",
		"a curve below the usual lowest load":       "  procedure: {type: FrameLoss, frameLoss: {maxRate: 5%}}\n",
		"a trial no longer than the usual burst":    "  procedure: {type: BackToBack, backToBack: {trialDuration: 2s}}\n",
		"a burst as long as the usual trial":        "  procedure: {type: BackToBack, backToBack: {maxBurstDuration: 10s}}\n",
		"trials longer than a goal's usual sum":     "  procedure: {type: Search, search: {goals: [{name: NDR, finalTrialDuration: 60s}]}}\n",
		"a soak shorter than the usual first trial": "  procedure: {type: Soak, soak: {lossRatio: 1%, duration: 4s}}\n",
		"a soak of five days":                       "  procedure: {type: Soak, soak: {duration: 120h}}\n",
		"a soak as long as the usual deadline":      "  procedure: {type: Soak, soak: {duration: 1h}}\n",
		"a load longer than the usual deadline":     "  procedure: {type: ConstantLoad, constantLoad: {duration: 2h}}\n",
		"a held load of sessions without a rate":    "  traffic: {type: Sessions}\n  procedure: {type: ConstantLoad, constantLoad: {duration: 10s}}\n",
		"flows in random order":                     "  traffic: {flows: {order: Random}}\n",
	} {
		t.Run(name, func(t *testing.T) {
			if _, errs := compile.Compile(admit(t, server, spec+links)); len(errs) > 0 {
				t.Error(errs)
			}
		})
	}
}

// A search whose goals are hard to decide, or whose device is slow to reset, needs far more time than it usually takes.
func TestADefaultDeadlineCutsNoProcedure(t *testing.T) {
	server := newServer(t)
	for spec, want := range map[string]time.Duration{
		"  procedure: {}\n":                   time.Hour,
		"  procedure: {type: ConstantLoad}\n": time.Hour,
		"  procedure: {type: Search}\n":       0,
		"  procedure: {type: Search, search: {preset: TST009}, directions: Each}\n":    0,
		"  procedure: {type: Search, reset: {timeout: 2m}}\n":                          0,
		"  procedure: {type: BackToBack}\n":                                            0,
		"  procedure: {type: Soak, soak: {duration: 2h}}\n":                            0,
		"  procedure: {type: FrameLoss, frameLoss: {trialDuration: 10m}}\n":            0,
		"  procedure: {type: MaximumOfferedLoad, maximumOfferedLoad: {trials: 100}}\n": 0,
	} {
		p := compiled(t, admit(t, server, spec+links))
		deadline, longest := p.ActiveDeadline.Std(), compile.LongestDuration(p)
		if want > 0 && deadline != want || want == 0 && deadline <= time.Hour || deadline <= longest {
			t.Errorf("%s has the deadline %s and takes %s at most, want %s", spec, deadline, longest, want)
		}
	}
	dut := "  dut: {type: Reference, readyDelay: 50m}\n"
	slow := compiled(t, admit(t, server, dut+links))
	if got, least := slow.ActiveDeadline.Std(), 50*time.Minute+compile.LongestDuration(slow); got <= least {
		t.Errorf("a device that takes 50m to forward leaves %s, want more than %s", got, least)
	}
	written := compiled(t, admit(t, server, "  activeDeadline: 20m\n"+links))
	if got := written.ActiveDeadline.Std(); got != 20*time.Minute {
		t.Errorf("a deadline of 20m is %s", got)
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
