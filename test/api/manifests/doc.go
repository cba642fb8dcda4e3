// Package manifests asks a real API server whether it takes the objects that internal/cluster/manifests makes,
// as its golden files have them.
package manifests
