//go:build !full

package proceduretest

// histories are how many AnyHistoryEnds draws; the full tier draws more.
const histories = 100
