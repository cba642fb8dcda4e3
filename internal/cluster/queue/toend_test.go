//go:build !full

package queue_test

// toTheEnd says whether a lab is played until all its tests are over, also where a property is of some of them.
const toTheEnd = false
