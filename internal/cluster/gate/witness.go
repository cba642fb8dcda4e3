package gate

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/compile/admission"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// The witnesses that a gate may be asked for. The rate that comes back of an overload is counted frame by frame, and so
// spreads less than a limit that is searched in steps. It is another property of the device than its limit. Either may
// change without the other, and so it has a verdict of its own.
const (
	// WitnessOverload measures the forwarding rate at overload beside the search.
	WitnessOverload = "overload"
	// WitnessOverloadAlone measures that rate in place of the search.
	WitnessOverloadAlone = "overload-alone"
)

// Witnesses are the names of the witnesses.
func Witnesses() []string { return []string{WitnessOverload, WitnessOverloadAlone} }

// CheckWitness refuses an unknown witness. Empty means that none is asked for.
func CheckWitness(name string) error {
	if name == "" || slices.Contains(Witnesses(), name) {
		return nil
	}
	return fmt.Errorf("--witness %q: write %s, to measure what comes back of an overload beside the search, or %s, "+
		"in place of it", name, WitnessOverload, WitnessOverloadAlone)
}

const (
	// witnessRuns is how often each side's rate at overload is measured at least. If runs spread by up to 0.3 %, so
	// many show half a percent beyond what is allowed in 95 of 100 cases.
	witnessRuns = 22
	// maxTrials is how many trials a run has at most. Its figure is the rate of all of them together, and its warm-up
	// lasts as long as one.
	maxTrials = 5
	// witnessShare is how many times longer the searches take than the witness.
	witnessShare = 10
	// shortestTrial and longestTrial bound a trial. A spec allows no shorter one, and longer ones show nothing more.
	shortestTrial, longestTrial = time.Second, 10 * time.Second
	// witnessEnd ends the name of a witness.
	witnessEnd = "-overload"
)

// witness is the subject that measures what comes back of an overload of the same device. Its trials are at the highest
// rate that the search would reach, and together take a tenth of the searches' time. It is judged by the criteria that
// compare. Only a search of frames has one.
func (s *Subject) witness(server *admission.Server, content map[string]any, object admission.Object,
	suffix string) (*Subject, error) {
	usual, err := s.usual(server)
	if err != nil {
		return nil, err
	}
	if b := s.Suite.Spec.Baseline; b != nil && b.Suite != "" {
		return nil, fmt.Errorf("--witness overload can't be compared with suite %s, whose runs are searches: leave "+
			"--witness out, or compare with cells of the same suite (spec.baseline.axis)", b.Suite)
	}
	spec, _ := content["spec"].(map[string]any)
	var compare []any
	criteria, _ := spec["criteria"].([]any)
	for _, c := range criteria {
		if fields, _ := c.(map[string]any); fields["maxRegression"] != nil {
			fields = maps.Clone(fields)
			delete(fields, "maxWorkRegression") // no trains follow an overload
			compare = append(compare, fields)
		}
	}
	if len(compare) == 0 {
		return nil, errors.New("--witness compares the rate at overload with a baseline's, but no criterion " +
			"compares: give --max-regression 2%, or leave --witness out")
	}
	template, _ := spec["template"].(map[string]any)
	test, _ := template["spec"].(map[string]any)
	trials, lasts := trialsOf(usual, int(s.Suite.Spec.Repetitions))
	offered := map[string]any{"warmupDuration": lasts.String(), "trialDuration": lasts.String(),
		"trials": int64(trials)}
	procedure, _ := test["procedure"].(map[string]any)
	if ramp, _ := procedure["ramp"].(map[string]any); ramp["targetRate"] != nil {
		offered["rate"] = ramp["targetRate"]
	}
	overload := suite.Overload(offered)
	if loss, isSet := procedure["maxLossRatio"]; isSet {
		overload["maxLossRatio"] = loss
	}
	test["procedure"] = overload
	delete(test, "activeDeadline") // it is meant for a search
	spec["criteria"], spec["repetitions"] = compare, int64(max(witnessRuns, s.Suite.Spec.Repetitions))
	if s.Test {
		labels, _ := template["metadata"].(map[string]any)["labels"].(map[string]any)
		labels[v1alpha1.LabelLoadTest] = witnessLabel(labels)
	}
	admitted, faults := server.Admit(content)
	if err := faults.OrNil(); err != nil {
		return nil, err
	}
	w := &Subject{Suite: admitted.Suite, Test: s.Test, Witness: true, Baseline: s.Baseline}
	meta := *object.Meta()
	meta.Name += witnessEnd
	setName(w.Suite, &meta, suffix)
	w.Name = s.Name
	w.Matrix = suite.Expand(w.Suite)
	if wrong := w.Matrix.Check(suite.JudgeWith(server, suite.InCluster)); len(wrong) > 0 {
		return nil, wrong
	}
	w.Bound = w.bound(server)
	return w, nil
}

// witnessLabel is the column of a witness in tables, which is its search's, with witnessEnd.
func witnessLabel(labels map[string]any) string {
	const maxLabel = 63
	loadTest, _ := labels[v1alpha1.LabelLoadTest].(string)
	return strings.Trim(loadTest[:min(len(loadTest), maxLabel-len(witnessEnd))]+witnessEnd, "-")
}

// trialsOf is how many trials a run has, and how long each of them and the warm-up last, beside so many searches of
// this usual duration. All runs of a side together take a tenth of the searches' time, but at least two seconds each.
func trialsOf(usual time.Duration, searches int) (trials int, lasts time.Duration) {
	run := usual * time.Duration(searches) / (witnessShare * witnessRuns)
	trials = min(max(int(run/shortestTrial)-1, 1), maxTrials)
	return trials, min(max((run/time.Duration(trials+1)).Truncate(100*time.Millisecond), shortestTrial), longestTrial)
}

// usual is how long the shortest search of a subject's cells usually takes.
func (s *Subject) usual(server *admission.Server) (shortest time.Duration, err error) {
	for i, cell := range s.Matrix.Cells {
		if s.Matrix.Calibrates(i) {
			continue
		}
		content, err := s.Matrix.Content(i, 1, 1)
		if err != nil {
			return 0, err
		}
		object, faults := server.Admit(content)
		if err := faults.OrNil(); err != nil {
			return 0, err
		}
		p, errs := compile.Compile(object.LoadTest)
		if len(errs) > 0 {
			return 0, errs.ToAggregate()
		}
		if p.Sessions != nil || p.Procedure.Type != plan.TypeRamp {
			return 0, fmt.Errorf("--witness is for searches of frames (spec.procedure.type: Ramp), but cell %s has "+
				"another procedure: leave --witness out, or put the cell into a file of its own", cell.Name)
		}
		if usual := compile.UsualDuration(&object.LoadTest.Spec); shortest == 0 || usual < shortest {
			shortest = usual
		}
	}
	if patched := s.patchesProcedure(); patched != "" {
		return 0, fmt.Errorf("--witness measures all cells by one procedure, but the patch of %s sets another: leave "+
			"--witness out", patched)
	}
	return shortest, nil
}

// patchesProcedure names the axis and value whose patch sets spec.procedure. Empty means that none does.
func (s *Subject) patchesProcedure() string {
	for _, axis := range s.Suite.Spec.Axes {
		for _, value := range axis.Values {
			if _, sets := value.Patch["procedure"]; sets {
				return string(axis.Name) + " " + string(value.Name)
			}
		}
	}
	return ""
}

// pairWitnesses sets each witness's row beside that of its search, and says which of the two decides. They measure two
// properties of the device, and neither verdict is made of both. A witness that fails makes the gate fail. Otherwise
// the search decides. Where there is no search, the witness decides alone.
func pairWitnesses(rows []report.GateRow) {
	for i := range rows {
		w := &rows[i]
		if w.Witness == "" {
			continue
		}
		k := i - 1 // its search comes before it; rows of the same name in another namespace have their own
		for k >= 0 && (rows[k].Witness != "" || rows[k].Test != w.Test || rows[k].Cell != w.Cell) {
			k--
		}
		if k < 0 {
			w.Beside = "only the rate at overload was measured, and decides: it says nothing about the device's limit"
			continue
		}
		w.Beside = whichMoved(rows[k].Outcome, w.Outcome)
		w.Silent = w.Outcome == report.Undecided
	}
}

// whichMoved says what a search and its witness show together, and which of them decides.
func whichMoved(search, witness report.Outcome) string {
	switch {
	case search == report.DidFail && witness == report.DidFail:
		return "the limit and the rate at overload are both less than is allowed: each of them decides"
	case search == report.DidFail && witness == report.Passed:
		return "the limit is less than is allowed, and decides; the rate at overload is not"
	case search == report.DidFail:
		return "the limit is less than is allowed, and decides; the runs don't show whether the rate at overload is"
	case search == report.Passed && witness == report.DidFail:
		return "the rate at overload is less than is allowed, and decides; the limit is not: only when overloaded " +
			"does the device forward less than before"
	case witness == report.DidFail:
		return "the rate at overload is less than is allowed, and decides; the runs don't show whether the limit is"
	case search == report.Passed && witness == report.Passed:
		return "neither the limit nor the rate at overload is less than is allowed: the search decides"
	case search == report.Passed:
		return "the limit is not less than is allowed, and decides; the runs don't show whether the rate at overload is"
	case witness == report.Passed:
		return "the rate at overload is not less than is allowed, which says nothing about the limit: the search " +
			"decides, and its runs don't show whether the limit is"
	}
	return "the runs show neither whether the limit nor whether the rate at overload is less than is allowed"
}
