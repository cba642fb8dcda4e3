// Package loadtest carries LoadTests through their lives in a cluster. It observes, lets
// internal/cluster/lifecycle decide, and applies the decision.
//
//	API server ──watch──▶ caches ──▶ observe ──▶ lifecycle.Decide ──▶ apply ──▶ API server
//	                                    ▲            │ first the Report, a dry run, a taken name
//	                                    └────────────┘
package loadtest
