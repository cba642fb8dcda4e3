// Package rigs holds what tests use, and no product. Some of it stands for something real: sim for a generator and a device, trextest for a TRex, fakeport for an
// interface, impaired for a device with known faults, fabric for network cards with virtual functions. Some of it makes things up: reporttest Reports,
// sanitizetest hostile documents, unitstest quantities, proceduretest devices that are functions. Some of it judges: truth a Report, calm the machine. built
// links the programs that tests start, and tier says in which tier a test runs.
package rigs
