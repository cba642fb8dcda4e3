// Package compile turns a LoadTest into a Plan: the only bridge from what people write to what the runner does.
// It is pure. It refuses what the schema and its rules accept but can't be measured, each with its field and
// the way out.
//
// A file is for each engine; ForCluster adds what pods are made from. Package admission, below, says what the
// API server would say of a file.
package compile
