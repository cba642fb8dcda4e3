// Package goals decides which load a search tries next, and what trials show of each of its goals. The search follows
// MLRsearch (multiple loss ratios, RFC 9971).
//
//	Search ──▶ load, duration, and when the trial is decided before its end
//	       ◀── what the trial showed
//	Conclude ──▶ each goal's relevant bounds and conditional throughput
//
// All functions are pure, and may be called concurrently.
package goals
