// Package rigs holds what tests use, and no product. Some rigs stand for something real. sim stands for a generator
// and a device, trextest for a TRex, fakeport for an interface, sshtest for a device's SSH, impaired for a device
// with known faults, fabric for network cards with virtual functions, and cards has what the kernel said of real
// ones. machine emulates a whole machine with real ones. Some rigs make documents and devices up. reporttest makes
// Reports, sanitizetest hostile documents, unitstest quantities, and proceduretest devices that are functions. Two
// rigs judge, truth a Report and calm the machine. built links the programs that tests start, netnstest makes network
// namespaces, and tier says in which tier a test runs.
package rigs
