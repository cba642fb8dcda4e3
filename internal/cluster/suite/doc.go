// Package suite decides what becomes of a LoadTestSuite. It is pure. It computes the axes' cells, the names and
// the order of their tests, and what to create, stop, store and report next.
//
//	template × axes ─▶ Expand ─▶ cells ─▶ a LoadTest for each try ─▶ a Run of each ─▶ verdicts, report
//	                                             ▲                                │
//	                                             └── Decide: missing are made ◀───┘
//
// Decisions depend only on what can be observed, which is the LoadTests that exist and the runs that are
// stored. A test's name follows from its cell, repetition and try, so that a restarted operator makes no test
// twice.
package suite
