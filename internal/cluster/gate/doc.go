// Package gate says what a gate measures, how its suites are named, how long they may take, and what their runs decide.
// It is pure. Its callers read the files and talk to the cluster.
//
//	LoadTest, LoadTestSuite ── images, runs, criteria ──▶ suites, named after their content ──▶ … ──▶ judged by cell
//
// All that a gate measures is a LoadTestSuite, because a suite measures its cells in turns, repeats runs that gave no
// result, and keeps them. A LoadTest becomes a suite of a single cell, or of two where another image is the baseline.
package gate
