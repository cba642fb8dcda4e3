// Package device holds the devices under test that linerate brings along, and the lab that has one on this machine.
//
//	forwarder    the Reference: the Linux kernel as a router or bridge, plain, with an exact limit, or a real device of the kernel's
//	tunnel       a gateway of an encrypted tunnel, in user space
//	lab          a run on this machine: namespaces, veths, the child process, devices in user space
package device
