// Package cluster holds the packages that decide what becomes of tests in a cluster. All are pure. Package controllers
// observes, asks one of them, and applies the answer.
//
//	lifecycle    what becomes of a test: ordered, named rules from Observed to Decision; conditions and status
//	manifests    a test's Kubernetes objects, with a file for each engine that has pods
//	queue        whose turn it is where tests want the same devices
//	suite        axes become cells, cells become LoadTests; what is missing, the table and the verdict
//	gate         files become suites, runs become a verdict, for releases
//	retention    which kept Reports have to go
package cluster
