package faults

import (
	"fmt"
	"math"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/test/rigs/calm"
	"github.com/linerate-dev/linerate/test/rigs/statustest"
)

const (
	// known is what the device under test forwards in each direction, in packets/s.
	known = 10_000
	// demanded is how far below the known answer a figure may be by the criterion of spec, as a share of it, and how far from it where a verdict rests on it.
	demanded = 0.02
	// allowed is how far it may be on a calm machine.
	allowed = 0.01
)

// machine is what a test ran on: calm.Taken says how calm it was.
type machine interface {
	Disturbed() bool
	Outcome(faults []string) calm.Outcome
}

// answer holds a test that could measure to the known answer, which any calm machine finds. said is the table's text for a test without the answer.
func answer(t *lineratev1alpha1.LoadTest, m machine) (outcome calm.Outcome, said string) {
	faults := missing(t)
	if len(faults) > 0 {
		said = "no answer: " + strings.Join(faults, "; ")
	}
	if outcome = m.Outcome(faults); outcome == calm.Disturbed {
		said = string(calm.Disturbed) + ", " + said
	}
	return outcome, said
}

// missing is what a test lacks of the known answer: Measured, Passed=True, and both figures within 1 %.
func missing(t *lineratev1alpha1.LoadTest) (faults []string) {
	if _, reason, _ := condition(t, lineratev1alpha1.ConditionComplete); reason != lineratev1alpha1.ReasonMeasured {
		faults = append(faults, "Complete is "+reason)
	}
	if status, _, message := condition(t, lineratev1alpha1.ConditionPassed); status != "True" {
		faults = append(faults, fmt.Sprintf("%s (%s)", verdict(t), message))
	}
	if all := figuresOf(t); all == "" {
		faults = append(faults, "no figures")
	} else if !within(t, allowed) {
		faults = append(faults, fmt.Sprintf("%s: not two figures within 1 %% of %d", all, known))
	}
	return faults
}

// falseVerdict says what is wrong with a verdict on any machine; empty: nothing. The device meets the criterion, so no test may say that it doesn't, and one that
// says so needs the figures for it.
func falseVerdict(t *lineratev1alpha1.LoadTest) string {
	status, _, message := condition(t, lineratev1alpha1.ConditionPassed)
	if status == "False" || status == "True" && !within(t, demanded) {
		return fmt.Sprintf("Passed=%s (%s) with the figures %v", status, message, figures(t))
	}
	return ""
}

// figures are what a status says of each direction, in packets/s.
func figures(t *lineratev1alpha1.LoadTest) []int64 {
	return statustest.Received(t.Status.Result)
}

// within says whether a status has two figures that are no further than that from the known answer.
func within(t *lineratev1alpha1.LoadTest, share float64) bool {
	all := figures(t)
	for _, f := range all {
		if off(f) > share {
			return false
		}
	}
	return len(all) == 2
}

// off is how far a figure is from the known answer, as a share of it.
func off(figure int64) float64 { return math.Abs(float64(figure)-known) / known }

// condition is one in short, such as "Measured"; empty where there is none.
func condition(t *lineratev1alpha1.LoadTest, kind string) (status, reason, message string) {
	c := meta.FindStatusCondition(t.Status.Conditions, kind)
	if c == nil {
		return "", "", ""
	}
	return string(c.Status), c.Reason, c.Message
}

// verdict is Passed in short.
func verdict(t *lineratev1alpha1.LoadTest) string {
	status, reason, _ := condition(t, lineratev1alpha1.ConditionPassed)
	return "Passed=" + status + " " + reason
}

// figuresOf are a status' figures.
func figuresOf(t *lineratev1alpha1.LoadTest) string {
	var out []string
	for _, f := range figures(t) {
		out = append(out, fmt.Sprint(f))
	}
	return strings.Join(out, " / ")
}
