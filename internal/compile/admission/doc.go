// Package admission judges a file's objects as a Kubernetes API server would when they are created, without needing
// one. It has strict decoding, defaulting, schema, list types and CEL rules, all from the CustomResourceDefinition that
// clusters get. So a file means the same on a laptop as in a cluster.
//
// A server stops at the first kind of fault. This package names all of them at once, each with its line and the way
// out.
package admission
