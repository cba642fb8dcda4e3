// Package pod holds what only pods of a test do. The commands that start it are in internal/cli.
//
//	launch       starts TRex in a pod, watches it, and says why it can't
//	vitals       tells a machine's vital signs over the pods' network, and asks for them
//	collect      asks others on the network for observers: SNMP, Redfish, Prometheus, VPP
//	reset        resets the device between trials, over the pods' network
package pod
