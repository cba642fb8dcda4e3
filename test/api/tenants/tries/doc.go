// Package tries has what people with few rights may ask of a LoadTest to get more by it than they have, each
// with what a refusal must say: as data, for a bare API server (test/api/tenants) and for a whole cluster with
// the chart's policy (test/cluster/e2e).
package tries
