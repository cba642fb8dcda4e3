// Package result holds the packages that say what was measured, from windows and from saved Reports. All are pure.
//
//	analysis     windows become a result and a verdict
//	figures      what a Report claims: the table of metrics, each figure as an interval
//	findings     why a figure is what it is, by where the device received its frames
//	comparison   whether a figure changed, and whether that is allowed
//	profile      which functions took the device's time, and which grew
//	history      side against side, change over time, RFC 2544's forms
//	surprise     which of a suite's figures are unexpected
//	verify       recomputes a saved Report from its raw counters
package result
