// Package fabric is the lab that a machine without SR-IOV doesn't have, with network cards with virtual functions in
// several Kubernetes nodes, cabled to each other. On one Linux machine it lets tests go the ways of a real lab. Nodes
// advertise devices, a scheduler counts them, pods wait for one, Multus and a CNI plugin hand one over, and two tests
// want the same port.
//
//	   node n1 (network namespace)                                               node n2
//	┌───────────────────────────────┐                                 ┌───────────────────────────────┐
//	│ device plugin    CNI plugin   │                                 │ device plugin    CNI plugin   │
//	│ ┌ generator pod ┐             │   the wires' namespace          │             ┌ DUT pod ──────┐ │
//	│ │ west ═════════════════════════════╗  west                     │             │               │ │
//	│ └───────────────┘             │     ╠═══bridge══╦═════════════════════════════════ west       │ │
//	│ port westp0  westp0v1 ══════════════╝           ╠════════════════ westp1v1    │               │ │
//	│                               │                 ╚═ …            │ port westp1 │               │ │
//	│ port eastp0  eastp0v0 ══════════════╗  east                     │             │               │ │
//	│              eastp0v1 ══════════════╩═══bridge══╦═════════════════════════════════ east       │ │
//	│                               │                 ╚════════════════ eastp1v1    └───────────────┘ │
//	└───────────────────────────────┘                                 └───────────────────────────────┘
//
// A wire is what in a lab is the switch between a generator's and a device's port, or the cable with the cards'
// embedded switches at its ends. It is a bridge that learns MACs, forwards tagged and large frames, and sends nothing
// itself. A port belongs to one node and one wire, has a PCI address and a NUMA node, and as many virtual functions
// as the Spec says. All functions of a wire see each other, those of one port included. A function is a veth pair
// (package vf). Functions of a port that is Shared report their port, as a card's do. Functions of other ports share
// nothing, and so report nothing. The fabric has no rate (veths are as fast as the CPU, so the physical port's
// bandwidth isn't shared), no spoof check, no VLANs set by the port, no PCI device in sysfs, and no driver for user
// space.
//
//   - Lay makes the fabric between nodes whose network namespaces exist already, as often as one likes. It adds only
//     what is missing. Remove removes the fabric. Both work on what the kernel has, so another process can remove
//     what this one laid.
//   - Inventory lists a node's functions for its plugins. Lay writes it into the node's file system if Node.Root
//     names it.
//   - Package deviceplugin (program test/rigs/fabric/plugins/linerate-vf-plugin, a process in the node) registers the
//     resources with kubelet.
//   - Package cni (program test/rigs/fabric/plugins/linerate-vf, in the node's directory of CNI plugins) moves
//     functions into pods and back.
//   - Only these two need Kubernetes' and CNI's libraries. They are a module of their own, test/rigs/fabric/plugins,
//     with the project's versions (hack/versions), so that the project's module doesn't depend on those libraries.
//   - Package incluster does all that to a cluster of hack/cluster, and plays the whole way there.
//   - SetPort pulls a port's cable and plugs it in again. Away lists functions that are not at home. After a test
//     there must be none.
//
// In a NetworkAttachmentDefinition, with the annotation k8s.v1.cni.cncf.io/resourceName: linerate.dev/sriov-west:
//
//	{"cniVersion": "1.0.0", "type": "linerate-vf", "capabilities": {"mac": true, "ips": true}}
package fabric
