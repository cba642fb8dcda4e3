// Package maximumload measures what comes back of all that the generators can offer, which is RFC 2285's forwarding
// rate at maximum offered load (sections 3.5.3 and 3.6.2). Finite trials ask for all that the line carries. What is
// offered is the generators' own limit. What comes back is a fact about the device at that load, but no limit of the
// device. A device that is offered less than it can forward forwards all of it, and one that is offered more may
// forward less than it could.
//
//	asked for ├──────────────────────────────────────────────────┤
//	offered   ├────────────────────────────┤                          maximum offered load (MOL)
//	came back ├─────────────┤                                         forwarding rate at maximum offered load (FRMOL)
package maximumload
