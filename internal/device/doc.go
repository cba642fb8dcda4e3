// Package device holds the devices under test that linerate brings along, and the lab that has one on this machine.
//
//	forwarder    the Reference, the Linux kernel as a router or bridge, with an exact limit, or as a real device
//	tunnel       a gateway of an encrypted tunnel, in user space
//	lab          a run on this machine, with namespaces, veths, the child process, and devices in user space
package device
