// Package pod holds what pods of a test run. The commands that start it are in internal/cli, a cobra command each. The package itself is what all of them do: say in the termination
// message why a pod ended, read the operator's files, wait for interfaces, say who may call.
//
//	job          the runner's Job: reads the Plan, reaches the generators, has internal/run/runner measure, writes Progress and Report
//	generator    the generators of our own: the software engine, an end of TCP sessions
//	launch       starts TRex in a pod, watches it, and says why it can't
//	reference    the Reference: makes the pod's kernel forward
//	links        tells what is behind a pod's links: interfaces, physical ports
//	vitals       tells a machine's vital signs over the pods' network, and asks for them
//	collect      asks others on the network for observers: SNMP, Redfish, Prometheus, VPP
//	reset        resets the device between trials, over the pods' network
package pod
