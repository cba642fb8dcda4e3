package lifecycle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// conditionWriter sets the conditions after a step.
type conditionWriter struct {
	test         *v1alpha1.LoadTest
	attempt      *attempt
	history      *history
	faults       *podFaults
	lostRuns     int32
	lastProgress *v1alpha1.Progress
	observedAt   time.Time
}

// maxMessage is the most bytes that a condition's message may have.
const maxMessage = 4096

// setAll sets all conditions, on each pass.
func (w *conditionWriter) setAll(st *v1alpha1.LoadTestStatus, s *step) {
	w.set(st, v1alpha1.ConditionAccepted, w.accepted(s))
	if s.ending == nil || !s.ending.complete {
		w.set(st, v1alpha1.ConditionScheduled, w.withExcludedNodes(w.scheduled(s)))
		w.set(st, v1alpha1.ConditionGeneratorsReady, w.generatorsReady(s))
		w.set(st, v1alpha1.ConditionDUTReady, w.dutReady(s))
	} else {
		removeBeginning(st)
	}
	w.set(st, v1alpha1.ConditionComplete, w.complete(s))
	w.set(st, v1alpha1.ConditionPassed, w.passed(s))
	w.set(st, v1alpha1.ConditionReconciling, w.reconciling(s))
	w.set(st, v1alpha1.ConditionStalled, stalledCondition(s))
}

// removeBeginning removes from the status of a test that is over the conditions of its pods, as it has none, and that
// it was accepted, as it was carried out.
func removeBeginning(st *v1alpha1.LoadTestStatus) {
	for _, kind := range []string{v1alpha1.ConditionScheduled, v1alpha1.ConditionGeneratorsReady,
		v1alpha1.ConditionDUTReady} {
		meta.RemoveStatusCondition(&st.Conditions, kind)
	}
	if meta.IsStatusConditionTrue(st.Conditions, v1alpha1.ConditionAccepted) {
		meta.RemoveStatusCondition(&st.Conditions, v1alpha1.ConditionAccepted)
	}
}

// set sets a condition, or removes it where c is nil. Its time changes with its status only. It is of the status'
// observedGeneration, as all are, and doesn't repeat that.
func (w *conditionWriter) set(st *v1alpha1.LoadTestStatus, kind string, c *statement) {
	if c == nil {
		meta.RemoveStatusCondition(&st.Conditions, kind)
		return
	}
	meta.SetStatusCondition(&st.Conditions, metav1.Condition{
		Type: kind, Status: c.status, Reason: c.reason,
		Message:            wording.Limited(wording.Printable(c.message), maxMessage),
		LastTransitionTime: metav1.Time{Time: w.observedAt},
	})
}

func (w *conditionWriter) accepted(s *step) *statement {
	valid := isTrue(v1alpha1.ReasonValid, "the spec can be measured")
	switch {
	case s.accepted != nil:
		return s.accepted
	case s.ending != nil:
		return w.history.statement(v1alpha1.ConditionAccepted, valid)
	}
	return valid
}

func (w *conditionWriter) scheduled(s *step) *statement {
	unplaced := isFalse(v1alpha1.ReasonPending, "no pods were placed")
	switch {
	case s.scheduled != nil:
		return s.scheduled
	case s.ending != nil ||
		w.attempt.hasBegun() && w.history.condition(v1alpha1.ConditionScheduled).Status == metav1.ConditionTrue:
		// pods go again, and were placed
		return w.history.statement(v1alpha1.ConditionScheduled, w.placedWords(unplaced))
	}
	return w.placedWords(unplaced)
}

// placedWords says which nodes the pods are on, or otherwise where some have none.
func (w *conditionWriter) placedWords(fallback *statement) *statement {
	if compile.GeneratorsRunAlready(&w.test.Spec) && w.externalDUT() {
		return isTrue(v1alpha1.ReasonNothingToPlace, "generators and device are there already: the test needs "+
			"no pods but the runner's")
	}
	var nodes []string
	for _, p := range w.attempt.measuringPods() {
		if p.Spec.NodeName == "" {
			return fallback
		}
		if !slices.Contains(nodes, p.Spec.NodeName) {
			nodes = append(nodes, p.Spec.NodeName)
		}
	}
	if len(nodes) == 0 {
		return fallback
	}
	return isTrue(v1alpha1.ReasonAllScheduled, "all pods have their nodes and devices: "+listed(nodes))
}

// withExcludedNodes adds the nodes that the attempt avoids to what is said of its pods' nodes.
func (w *conditionWriter) withExcludedNodes(c *statement) *statement {
	excluded := w.test.Status.Operator.ExcludedNodes
	if len(excluded) == 0 || c.reason != v1alpha1.ReasonAllScheduled && c.reason != v1alpha1.ReasonUnschedulable {
		return c
	}
	words := "; these nodes refused a pod, and are avoided: " + listed(excluded)
	if strings.HasSuffix(c.message, words) {
		return c
	}
	return &statement{c.status, c.reason, c.message + words}
}

func (w *conditionWriter) externalDUT() bool {
	return w.test.Spec.DUT.Type == v1alpha1.DUTDevice || w.test.Spec.DUT.Type == v1alpha1.DUTLoopback
}

func (w *conditionWriter) generatorsReady(s *step) *statement {
	if compile.GeneratorsRunAlready(&w.test.Spec) {
		return isTrue(v1alpha1.ReasonNotOurs, "placement.servers: the generators run already, the runner asks them")
	}
	return w.rolesReadiness(v1alpha1.ConditionGeneratorsReady, v1alpha1.RoleGenerator, s)
}

func (w *conditionWriter) dutReady(s *step) *statement {
	switch {
	case s.dut != nil:
		return s.dut
	case w.externalDUT():
		return isTrue(v1alpha1.ReasonNotOurs,
			fmt.Sprintf("dut.type %s: it isn't a pod of the test's, the path check tells "+
				"whether it forwards", w.test.Spec.DUT.Type))
	}
	return w.rolesReadiness(v1alpha1.ConditionDUTReady, v1alpha1.RoleDUT, s)
}

// rolesReadiness says whether the pods of a role can be used.
func (w *conditionWriter) rolesReadiness(kind string, role v1alpha1.PodRole, s *step) *statement {
	switch {
	case s.void != nil || s.idle:
		return isFalse(v1alpha1.ReasonNotStarted, "it isn't its turn yet")
	case s.ending != nil && isEndReason(w.history.condition(v1alpha1.ConditionComplete).Reason):
		return w.history.statement(kind, isFalse(v1alpha1.ReasonNotStarted, "it isn't its turn any more"))
	}
	if f := w.faults.firstInRole(role); f != nil {
		if w.attempt.hasBegun() {
			return isFalse(v1alpha1.ReasonLost, f.message)
		}
		return isFalse(v1alpha1.ReasonFailed, f.message)
	}
	if previous := w.history.condition(kind); w.attempt.hasBegun() {
		if previous.Status == metav1.ConditionTrue || len(w.faults.unseenPods(role)) > 0 {
			return w.history.statement(kind, nil)
		}
		return isTrue(v1alpha1.ReasonReady, "ready when the run began, and heard of since")
	}
	return w.readiness(role)
}

// readiness counts the pods of a role that are ready, and says what the others wait for.
func (w *conditionWriter) readiness(role v1alpha1.PodRole) *statement {
	pods := w.attempt.podsWithRole(role)
	if len(pods) == 0 {
		return isFalse(v1alpha1.ReasonNotStarted, "it isn't its turn yet")
	}
	var waiting []string
	for _, p := range pods {
		if words := troubleOf(p); words != "" {
			return isFalse(v1alpha1.ReasonImage, words)
		}
		if !ready(p) {
			waiting = append(waiting, fmt.Sprintf("%s (%s)", p.Name, stateOf(p)))
		}
	}
	if len(waiting) > 0 {
		return isFalse(v1alpha1.ReasonStarting,
			fmt.Sprintf("%d of %d are ready, waiting for %s", len(pods)-len(waiting), len(pods), listed(waiting)))
	}
	return isTrue(v1alpha1.ReasonReady, fmt.Sprintf("%d of %d are ready", len(pods), len(pods)))
}

func (w *conditionWriter) complete(s *step) *statement {
	switch {
	case s.ending != nil && s.ending.complete:
		return isTrue(s.ending.reason, s.ending.message)
	case s.ending != nil:
		return isFalse(s.ending.reason, s.ending.message)
	case (w.attempt.hasBegun() || s.begins) && s.void == nil:
		return isFalse(v1alpha1.ReasonRunning, s.message)
	}
	return isFalse(v1alpha1.ReasonWaiting, s.message)
}

func (w *conditionWriter) passed(s *step) *statement {
	if s.ending != nil && s.ending.report != nil {
		return countVoid(verdictOf(s.ending), w.lostRuns+w.newlyLost())
	}
	reason, notYet, missed := v1alpha1.ReasonUndecided, "nothing to judge yet",
		"nothing was measured that could be judged"
	if len(w.test.Spec.Criteria) == 0 {
		reason, missed = v1alpha1.ReasonNoCriteria, noFigureNoCriteria
		notYet = "spec.criteria is empty: what is measured gets no verdict"
	}
	undecided := &statement{metav1.ConditionUnknown, reason, notYet}
	if s.ending == nil {
		return undecided
	}
	c := w.history.statement(v1alpha1.ConditionPassed, undecided)
	if s.ending.complete && c.message == notYet {
		c.message = missed
	}
	return c
}

// noFigureNoCriteria is Passed's message for a test that ended without a figure and has no criteria.
const noFigureNoCriteria = "spec.criteria is empty, and nothing was measured that could be judged"

// countVoid adds to a verdict how many runs came to nothing before the one that is judged, since whoever suspends runs
// could choose the one that counts.
func countVoid(verdict *statement, lost int32) *statement {
	if lost > 0 && verdict.reason != v1alpha1.ReasonNoCriteria {
		verdict.message = wording.JoinNonEmpty("; ", verdict.message,
			fmt.Sprintf("%d of %d runs of this test were void", lost, lost+1))
	}
	return verdict
}

// verdictOf is the criteria's judgement. Only a whole measurement has one.
func verdictOf(e *ending) *statement {
	unknown := &statement{metav1.ConditionUnknown, v1alpha1.ReasonUndecided, ""}
	switch {
	case len(e.report.Verdict.Criteria) == 0:
		unknown.reason, unknown.message = v1alpha1.ReasonNoCriteria, noFigureNoCriteria
		if e.figures && e.report.Answer.Measured {
			unknown.message = "spec.criteria is empty: there is a result, and no verdict"
		}
		return unknown
	case e.reason != v1alpha1.ReasonMeasured || e.report.Ending != report.Completed || !e.figures ||
		!e.report.Answer.Measured:
		unknown.message = "only a measurement that came to its own end, with a figure, is judged"
		return unknown
	case e.report.Verdict.Outcome == report.Passed:
		return isTrue(v1alpha1.ReasonCriteriaMet, criteriaWords(e.report))
	case e.report.Verdict.Outcome == report.DidFail:
		return isFalse(v1alpha1.ReasonCriteriaNotMet, criteriaWords(e.report))
	}
	unknown.message = criteriaWords(e.report)
	return unknown
}

// criteriaWords are the criteria that decided, which are those with the verdict's own outcome.
func criteriaWords(r *report.Report) string {
	var words []string
	for _, c := range r.Verdict.Criteria {
		if c.Outcome == r.Verdict.Outcome {
			words = append(words, c.Name+": "+c.Message)
		}
	}
	return cmp.Or(wording.JoinNonEmpty("; ", words...),
		"the Report says "+string(r.Verdict.Outcome)+", and not which criterion decided")
}

func (w *conditionWriter) reconciling(s *step) *statement {
	if s.idle || (s.ending != nil && s.ending.complete) {
		return nil
	}
	c := w.complete(s)
	return isTrue(c.reason, c.message)
}

func stalledCondition(s *step) *statement {
	if s.ending == nil || !s.ending.complete || !isFailure(s.ending.reason) {
		return nil
	}
	return isTrue(s.ending.reason, s.ending.message)
}

// history answers what conditions said when the status was written last.
type history struct {
	conditions []metav1.Condition
	observedAt time.Time
}

// statement is what a condition said in the last status, or the fallback if that status lacks the condition.
func (h *history) statement(kind string, fallback *statement) *statement {
	if c := h.condition(kind); c.Status != "" {
		return &statement{c.Status, c.Reason, c.Message}
	}
	return fallback
}

// condition is a condition as it was decided last, or an empty one if there is none.
func (h *history) condition(kind string) metav1.Condition {
	if c := meta.FindStatusCondition(h.conditions, kind); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// changedAt is when a condition got its present status. A condition that is missing, or from before the clock was set
// back, has it since now.
func (h *history) changedAt(kind string) time.Time {
	transition := h.condition(kind).LastTransitionTime.Time
	if transition.IsZero() || transition.After(h.observedAt) {
		return h.observedAt
	}
	return transition
}
