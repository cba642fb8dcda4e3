// Package packets holds the tests that send real packets, without a cluster: by the built command line
// (realpackets), from a Plan in ConfigMaps to its Report (delivery), by a TRex that runs (realtrex), between virtual
// functions of an emulated machine (virtualfunctions), on such functions that lack one thing each (realcards), and the
// table of four systems (foursystems). burstiness says how evenly frames arrive, and trains says what a device
// takes for a frame.
package packets
