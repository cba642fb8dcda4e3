// Package pci lists the SR-IOV virtual functions that a machine really has by resources, as the SR-IOV network
// device plugin does, from the same configuration. Package deviceplugin offers them to kubelet where the real plugin
// isn't at hand.
package pci
