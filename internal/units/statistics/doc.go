// Package statistics says what one set of repeated measurements shows. It knows no clock, no network, and not what
// was measured. Package comparison compares two sets. docs/statistics.md has the method.
//
//	runs ─▶ Summarize ─▶ median, spread, interval, outliers
package statistics
