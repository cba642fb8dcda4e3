// Package turns decides whose turn it is where several tests want the same devices. It computes ("draws")
// internal/cluster/queue's line from the caches, answers each test that asks, and wakes the tests whose turn
// changed.
package turns
