// Package apiserver asks a real Kubernetes API server what it takes, what it stores and what it says, and
// whether package admission, which judges files without one, says the same. The server (with its etcd) runs on
// loopback, and ends with the tests however they end.
package apiserver
