package faults

import (
	"slices"
	"time"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
)

// phase is a part of a test's life, as far as faults care.
type phase string

const (
	starting   phase = "starting"   // pods, or the runner, are being made
	warmUp     phase = "warm-up"    // the first load
	ramping    phase = "ramping"    // up the staircase
	confirming phase = "confirming" // the figure is found, and held
)

// effect is what a fault does to a measurement.
type effect int

const (
	// beside: the frames don't notice, the figure counts.
	beside effect = iota
	// passing: windows that it touched don't count, later ones do.
	passing
	// anew: what was measured until then is void, another run begins.
	anew
	// fatal: nothing more can be measured.
	fatal
)

// row is one fault in one phase, and what must come of it.
type row struct {
	fault  fault
	phase  phase
	effect effect
	// complete are reasons of Complete, of which one must be said, and tells the reader of what in its message.
	complete []string
	tells    string
	// ci: it stands for others. Of each fault one does, but for a deleted pod: to all but its node's kubelet that is a killed one.
	ci bool
}

// name is the row's in tests and in the table.
func (r row) name() string { return r.fault.name + ", " + string(r.phase) }

// survives says whether a figure must come of it.
func (r row) survives() bool { return r.effect != fatal }

// harms says whether the fault costs the test, or its run, so that it's worth trying whether another one works.
func (r row) harms() bool { return r.effect == fatal || r.effect == anew }

// rows is the whole table, before it is played: docs/conditions.md says which reason is for what.
func rows() []row {
	return slices.Concat(
		surviving(killRunner, anew, warmUp),
		ending(killGenerator, "generator", []string{lineratev1alpha1.ReasonGeneratorFailed}, []string{lineratev1alpha1.ReasonGeneratorLost}, starting, ramping),
		ending(killDUT, "dut", []string{lineratev1alpha1.ReasonDUTFailed}, []string{lineratev1alpha1.ReasonDUTFailed}, starting, ramping),
		ending(deletePod, "generator", []string{lineratev1alpha1.ReasonEvicted}, []string{lineratev1alpha1.ReasonEvicted, lineratev1alpha1.ReasonGeneratorLost}),
		surviving(killOperator, beside, ramping),
		surviving(killKubelet, beside, confirming),
		surviving(killAPIServer, beside, ramping),
		surviving(fillStore, beside, confirming), // the Report is due before there is room again
		linkRows(),
		nodeRows(),
	)
}

// everyPhase are the phases in their order.
func everyPhase() []phase { return []phase{starting, warmUp, ramping, confirming} }

// surviving are the rows of a fault after which the test is measured, in each phase.
func surviving(f fault, e effect, ci ...phase) (out []row) {
	for _, p := range everyPhase() {
		out = append(out, row{fault: f, phase: p, effect: e, complete: []string{lineratev1alpha1.ReasonMeasured}, ci: slices.Contains(ci, p)})
	}
	return out
}

// ending are the rows of a fault that ends the test: for one reason before the run, for another in it.
func ending(f fault, tells string, before, during []string, ci ...phase) (out []row) {
	for _, p := range everyPhase() {
		reasons := during
		if p == starting {
			reasons = before
		}
		out = append(out, row{fault: f, phase: p, effect: fatal, complete: reasons, tells: tells, ci: slices.Contains(ci, p)})
	}
	return out
}

// linkRows: a cable that is pulled for two seconds costs the windows that it touches. There is no link before there are pods.
func linkRows() (out []row) {
	for _, p := range everyPhase()[1:] {
		out = append(out, row{fault: pullCable, phase: p, effect: passing, complete: []string{lineratev1alpha1.ReasonMeasured}, ci: p == ramping})
	}
	return out
}

// nodeRows: the generator's node is cut off for longer than it takes Kubernetes to notice. Its runner is elsewhere, or it is with it.
func nodeRows() []row {
	return []row{{fault: cutNode, phase: ramping, effect: fatal, tells: "generator", ci: true,
		complete: []string{lineratev1alpha1.ReasonGeneratorLost, lineratev1alpha1.ReasonNodeLost}}}
}

const (
	// quietBound is how long there may be traffic after a run has ended, or has lost what it needs.
	quietBound = 15 * time.Second
	// endBound is how long a test may take to be complete: a second run, and the node's five minutes, are in it.
	endBound = 8 * time.Minute
)
