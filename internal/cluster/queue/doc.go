// Package queue decides which LoadTests may make their pods now, if several want the same devices. It is pure. The
// devices that nodes have, that tests hold and that tests want decide each test's turn.
//
//	for each test in the order of the line (Line.Order):
//	    all its devices are free ───▶ it starts
//	    some aren't ────────────────▶ it waits, and those that are free are kept for it
//
// The order is one rule. The namespace with the fewest running tests comes first, then the namespace whose last test
// began longest ago, then the oldest test.
//
// Node selectors, affinities, taints, CPUs and devices of other people's pods are the Kubernetes scheduler's. A test
// that the scheduler doesn't place gives its pods back for a while (Claim.RetryAt), so that two tests of which each has
// half of its devices don't wait for each other. Quotas, cohorts and priorities are Kueue's.
package queue
