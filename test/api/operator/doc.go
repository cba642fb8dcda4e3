// Package operator tests the operator against a real API server, under its own ClusterRole: each test calls
// Reconcile itself, and plays what a cluster has besides (scheduler, kubelet, Job controller, garbage
// collector, and the runner) by writing what they would write.
package operator
