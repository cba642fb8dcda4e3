// Package gate says what a gate measures, what it is called, how long that may take, and what is to be thought of it. It is pure: who asks reads the files
// and talks to the cluster.
//
//	LoadTest, LoadTestSuite ── images, runs, criteria ──▶ suites, each with a name of its content ──▶ … measured … ──▶ judged by cell
//
// All that a gate measures is a LoadTestSuite, for that is measured in turns, repeated where it came to nothing, and kept: a LoadTest becomes one of a single
// cell, or of two where another image is the baseline.
package gate
