// Package suite decides what becomes of a LoadTestSuite. It is pure. It computes the axes' cells, the names and
// the order of their tests, and what to create, stop, store and report next.
//
//	template × axes ─▶ Expand ─▶ cells ─▶ one LoadTest for each repetition and try ─▶ a Run of each ─▶ rows, verdicts, the suite's report
//	                                              ▲                                       │
//	                                              └── Decide: what is missing is made ◀───┘
//
// Decisions depend only on what can be observed, which is the LoadTests that exist and the runs that are
// stored. A test's name follows from its cell, repetition and try, so that a restarted operator makes no test
// twice.
package suite
