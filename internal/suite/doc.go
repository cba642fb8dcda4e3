// Package suite is what a LoadTestSuite means and what becomes of it, pure: the axes' cells and the names of their tests, the order in which these
// follow each other, and the decision what to make, stop, keep and say next.
//
//	template × axes ─▶ Expand ─▶ cells ─▶ one LoadTest for each repetition and try ─▶ a Run of each ─▶ rows, verdicts, the suite's report
//	                                              ▲                                       │
//	                                              └── Decide: what is missing is made ◀───┘
//
// Nothing is remembered but what can be seen: which LoadTests there are, and the runs that were stored. Names are functions of cell, repetition and
// try, so that whoever decides again after a restart makes nothing twice.
package suite
