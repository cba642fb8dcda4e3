// Package deviceplugin offers virtual functions of package vf to kubelet, as the SR-IOV network device plugin does
// with those of a real card. Each pool has a resource, the devices' health and NUMA node, PCIDEVICE_ variables in
// containers, and a device-info file for Multus (Device Information Specification 1.1.0 of the Network Plumbing
// Working Group), which ends up in the pod's network-status.
//
//	kubelet                        device plugin                              kernel
//	   │ ◀──────── Register ───────────│  per resource, on each start of kubelet
//	   │ ──────── ListAndWatch ──────▶ │ ◀──────── is it plugged? ──────────────│ each Interval
//	   │ ◀── devices, Healthy or not ──│
//	   │ ────────── Allocate ────────▶ │ ── devinfo/dp/RESOURCE-ID-device.json ─▶ Multus
//	   │ ◀──────── PCIDEVICE_… ────────│
//
// A function that is in a pod is healthy, as it exists. A function that was destroyed isn't, until somebody plugs it
// again. This plugin itself does so if Options.Mend is there.
package deviceplugin
