// Package vf is what stands for a virtual function of an SR-IOV network card. It is a veth pair with one end in the
// node's network namespace, where the card would show the function, and the other on a bridge, the wire, in a
// namespace of its own.
//
//	node's namespace                     wires' namespace
//	(or that of a pod that has it)
//
//	westp0v0  MAC 02:…  ═══════ veth ═══════ westp0v0 ─┐
//	westp0v1  MAC 02:…  ═══════ veth ═══════ westp0v1 ─┤ west (bridge)
//
// A real function goes home to the node when the namespace that it was in ends. A veth doesn't go home, but is
// destroyed with both its ends. So everything that handles functions asks whether they are plugged (their end on the
// bridge exists) and can plug new ones.
//
// The node's namespace knows the wires' namespace by a number (RTM_NEWNSID), through which rtnetlink acts there
// (IFLA_TARGET_NETNSID), so that a process in a node needs neither a path nor a descriptor of it. All functions
// here act in the calling thread's network namespace, which must be the node's, unless they say otherwise.
package vf
