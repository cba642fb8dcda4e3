// Package compile turns a LoadTest into a Plan. It is the only bridge from what people write to what the runner does.
// It is pure. It refuses what the schema and its rules accept but can't be measured, and names the field and the way
// out.
//
// Each engine has a file. ForCluster adds what pods are made from. Package admission, below, says what the API server
// would say of a file.
package compile
