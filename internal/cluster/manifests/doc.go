// Package manifests makes the Kubernetes objects of a LoadTest, which are pods, the runner's Job and its documents. It
// is pure. The same input makes the same objects, which share nothing with it. They are created once and never updated.
//
//	in the test's namespace, owned by the test
//	  NAME-A-setup          Pod                                   per attempt A, from 1
//	  NAME-A-links          ConfigMap: links.json, forwarder.json
//	  NAME-A-dut            Pod
//	  NAME-A-dut-far        Pod                                   where the device is a tunnel: its second gateway
//	  NAME-A-vitals         Pod                                   where observers look at the node of a user's device
//	  NAME-A-collector      Pod                                   where observers ask others over the network
//	  NAME-A-generator-R    Pod (PerLink: NAME-A-generator-R-LINK)
//	  NAME-A-teardown       Pod
//	  NAME-report           ConfigMap: report.json.gz             at the end: a copy of the Report that counted
//	  NAME-U-runner         NetworkPolicy                         where pods admit their own test's runner alone
//	in the operator's own namespace, found by their labels; U is made of the test's UID
//	  NAME-U-A-plan         ConfigMap: plan.json.gz, sites.json   owns the others: they go with it
//	  NAME-U-A-progress     ConfigMap, empty, for the runner
//	  NAME-U-A-report       ConfigMap, empty, for the runner
//	  NAME-U-A-runner       Job
//
// Whoever edits the test's namespace may change everything in it, so nothing there is evidence. Verdicts follow only
// from objects in the operator's namespace.
package manifests
