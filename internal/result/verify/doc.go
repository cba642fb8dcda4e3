// Package verify recomputes a saved Report from its raw counters, and finds where the document says something else.
// It measures nothing. The code that made every figure when the run was measured makes it once more, and the two
// are compared. It is pure.
//
//	counters of windows ──measure──▶ rates, loss, quality ──procedures, analysis──▶ result ──figures──▶ figures ──analysis──▶ verdict
//	       │                              │                                            │                   │                   │
//	       └ totals, times                └──────────────── the document must say the same ──┴───────────────────┘
//
// Everything is recomputed from the counters alone, never from later parts of the document. So a changed figure is
// one finding, and a changed counter contradicts all that follows from it.
package verify
