// Package loadtestsuite makes the LoadTests of suites, one for each cell and repetition, and keeps what they measured: it observes, lets internal/cluster/suite decide,
// and applies the decision.
package loadtestsuite
