// Package kube starts a real kube-apiserver and etcd for tests, which end with the test's process however that ends.
package kube
