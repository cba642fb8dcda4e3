package faults

import (
	"slices"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
)

// fault is something that goes wrong, by its name in the table. How it is done is in deeds.
type fault string

const (
	killRunner    fault = "kill -9 of the runner"
	killGenerator fault = "kill -9 of a generator"
	killDUT       fault = "kill -9 of the DUT"
	deletePod     fault = "a generator's pod deleted by another user"
	killOperator  fault = "kill -9 of the operator"
	killKubelet   fault = "kill -9 of the generator's kubelet, for 5 s"
	killAPIServer fault = "kill -9 of the API server, for 5 s"
	fillStore     fault = "the cluster's store is full, for 15 s"
	pullCable     fault = "the generator's link down, for 2 s"
	cutNode       fault = "the generator's node cut off, for 40 s"
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
}

// name is the row's in tests.
func (r row) name() string { return string(r.fault) + ", " + string(r.phase) }

// survives says whether the fault leaves the test able to measure.
func (r row) survives() bool { return r.effect != fatal }

// rows is the whole table, before it is played: docs/conditions.md says which reason is for what.
func rows() []row {
	return slices.Concat(
		surviving(killRunner, anew, everyPhase()),
		ending(killGenerator, "generator", []string{lineratev1alpha1.ReasonGeneratorFailed}, []string{lineratev1alpha1.ReasonGeneratorLost}),
		ending(killDUT, "dut", []string{lineratev1alpha1.ReasonDUTFailed}, []string{lineratev1alpha1.ReasonDUTFailed}),
		ending(deletePod, "generator", []string{lineratev1alpha1.ReasonEvicted}, []string{lineratev1alpha1.ReasonEvicted, lineratev1alpha1.ReasonGeneratorLost}),
		surviving(killOperator, beside, everyPhase()),
		surviving(killKubelet, beside, everyPhase()),
		surviving(killAPIServer, beside, everyPhase()),
		surviving(fillStore, beside, everyPhase()),      // if it strikes while confirming, the Report is due before there is room again
		surviving(pullCable, passing, everyPhase()[1:]), // there is no link before there are pods
		nodeRows(),
	)
}

// everyPhase are the phases in their order.
func everyPhase() []phase { return []phase{starting, warmUp, ramping, confirming} }

// surviving are the rows of a fault after which the test is measured.
func surviving(f fault, e effect, in []phase) (out []row) {
	for _, p := range in {
		out = append(out, row{fault: f, phase: p, effect: e, complete: []string{lineratev1alpha1.ReasonMeasured}})
	}
	return out
}

// ending are the rows of a fault that ends the test: for one reason before the run, for another in it.
func ending(f fault, tells string, before, during []string) (out []row) {
	for _, p := range everyPhase() {
		reasons := during
		if p == starting {
			reasons = before
		}
		out = append(out, row{fault: f, phase: p, effect: fatal, complete: reasons, tells: tells})
	}
	return out
}

// nodeRows: the generator's node is cut off for longer than it takes Kubernetes to notice. Its runner is elsewhere, or it is with it.
func nodeRows() []row {
	return []row{{fault: cutNode, phase: ramping, effect: fatal, tells: "generator",
		complete: []string{lineratev1alpha1.ReasonGeneratorLost, lineratev1alpha1.ReasonNodeLost}}}
}

// triedAgain says whether the same test is made anew after this row: after one row of each fault, which strikes while frames are sent.
func (r row) triedAgain() bool { return r.phase == ramping }
