// Package virtualfunctions measures devices between virtual functions of network cards, in an emulated machine
// (test/rigs/machine). The functions, their drivers and their card's switch are those of Linux and QEMU, no doubles.
package virtualfunctions
