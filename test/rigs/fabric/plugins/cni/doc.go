// Package cni is a CNI plugin that gives pods virtual functions of package vf, as the SR-IOV CNI plugin does with
// those of a real card. The function that kubelet allocated and Multus named (deviceID) is moved into the pod's
// network namespace, under the name that the pod asked for, with the MAC and addresses that it asked for. DEL brings
// it home, also from a pod whose namespace is gone.
//
//	kubelet ── Allocate ──▶ device plugin
//	   │ pod resources
//	   ▼
//	Multus ── ADD, deviceID 0000:03:02.0 ──▶ linerate-vf: inventory says westp0v0
//	                                            node's namespace        pod's namespace
//	                                            westp0v0 ──────────────▶ net1, up
//
// Bringing home means making anew, so what a pod did to its function (name, MTU, offloads, programs, counters) is
// gone with it. A record of each attachment names the function's holder, so that a second pod isn't given one which
// the first still holds, and DEL touches only its container's own. One ADD, CHECK or DEL acts at a time on a node.
package cni
