// Package fabrictest lays fabrics between scratch namespaces, for tests.
package fabrictest
