// Package metrics is what the operator exports to Prometheus (docs/observability.md lists it), and the words
// for the states of tests and suites. There are two kinds of metrics.
//
//	what happens  ──counted by Tests and Suites when it does─┐
//	                                                         ├──▶ /metrics
//	what is so    ──counted by states in the caches, at ─────┘
//	                each scrape: it can't drift
package metrics
