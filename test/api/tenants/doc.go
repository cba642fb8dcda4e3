// Package tenants tries, on a real API server with the real policy and roles, what people with few rights must
// not get by a LoadTest.
package tenants
