// Package pod holds what pods of a test run. The commands that start it are in internal/cli, a cobra command
// each. The package itself is what all of them do. It says in the termination message why a pod ended, reads
// the operator's files, waits for interfaces, and says who may call.
//
//	job          the runner's Job, which reads the Plan, has internal/run/runner measure, and writes the Report
//	generator    the generators of our own, the software engine or an end of TCP sessions
//	launch       starts TRex in a pod, watches it, and says why it can't
//	reference    the Reference, which makes the pod's kernel forward
//	links        finds the interfaces and physical ports behind a pod's links
//	vitals       serves a machine's vital signs over the pods' network, and asks for them
//	collect      asks SNMP agents, Redfish, Prometheus and VPP on behalf of observers
//	reset        resets the device between trials, over the pods' network
package pod
