// Package netnstest makes network namespaces for tests, which takes root.
package netnstest
