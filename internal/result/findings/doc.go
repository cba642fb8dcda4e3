// Package findings says why a figure is what it is, by where the device received its frames: one sentence each, with
// a way out. Each kind has a threshold, and its reason stands at the rule. What the readings don't show is no finding.
//
//	Placement (queues, processors) + the window that decided + the Plan's flows ──▶ rules ──▶ at most five findings
//
// A finding never changes a figure or a verdict.
package findings
