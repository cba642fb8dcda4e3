// Package sriov types docs/sriov.md on two emulated machines, as its reader does on two nodes of a lab:
//
//	host                                     gen-1, emulated             dut-1, emulated
//	control plane, operator, runner          kubelet, device plugin      kubelet, device plugin
//	  (hack/cluster: control, node-1 and -2)   ens1f0, ens1f1 ══════════════ ens1f0, ens1f1
//	  bridge ─────────────────────────────────── tap0 ─────────────────────── tap0
//
// Where the lab isn't what the page draws:
//   - The cards are Intel 82576 as QEMU emulates them (igb): 1 Gb/s, an interrupt a frame, all functions of a port
//     reach each other. All machines share the host's processors.
//   - No udev: a loop loads igbvf and names the functions. No systemd: systemctl is a script that kills and starts
//     the kubelet. No DaemonSet: the device plugin is a process of the node, and gets its ConfigMap from the test.
//   - The page's own table names what else the test changes. Figures there are those of a server.
package sriov
