// Package caches says which of the cluster's objects the operator keeps in memory, how much of each, and in
// which cache.
package caches
