// Package measure turns readings of raw counters into windows, and judges them. It is the only place that computes
// loss and rates. docs/measurement.md has the same rules in words. The package is pure, so the same readings give
// the same window, and a window and a goal the same judgement.
//
//	readings ── Setup.Window ──▶ Window: evidence ── Judge ──▶ quality and reason
//	                                                   ▲ Goal: as many as one likes, whenever
//
//	     settle (not judged)        the window
//	├────────────────────────┼──────────────────────────┤
//	Update                   first reading … last reading
//
// A window across a rate change is off by up to half a percent with no loss at all, hence the settling. Both edges
// are readings with a time of their own, and each time has an uncertainty. What passed in that moment may be on
// either side of the edge.
//
// The packages below belong to windows:
//
//	observe      assigns readings to windows by time, and says who was disturbed
//	path         proves that frames go through the device, before any load
package measure
