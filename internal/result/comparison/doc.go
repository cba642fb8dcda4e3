// Package comparison decides whether a figure changed from a baseline's runs to a candidate's, and whether that is
// allowed. Relative criteria, compare, trend, suites and the gate all ask it, and compute no change themselves. It
// is pure. docs/statistics.md has the method, and how often it is wrong.
//
//	a Report ─▶ Unfit: does its run count? ─▶ Figure.Runs: an interval that the truth lies in ─┐
//	runs of the candidate and of the baseline, and what is allowed: a Question ◀───────────────┘
//	                  └─▶ Compare ─▶ an Answer: change, interval, outcome, and a sentence with the way out
//	environments of the runs ─▶ EnvironmentDifferences: what isn't the same ─▶ Refusal: for which of it no change is claimed without leave
package comparison
