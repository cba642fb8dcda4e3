// Package launch starts TRex inside a generator pod, from what the pod was really given.
//
//	network-status, PCIDEVICE_*, sysfs, procfs, cgroups
//	          │ Observe
//	          ▼
//	      Observed ── Decide ──▶ Config ── Render ──▶ trex_cfg.yaml ─▶ _t-rex-64 ─▶ RPC 4501
//	                    │                                  ▲   ▲
//	                    └──▶ Faults, one sentence each     │   └ HeartbeatWatch stops the traffic of a lost runner
//	                         with the way out              └ signals, exit codes in words
//
// Observe reads through an fs.FS, so that a test may give it a tree of its own, and Decide reads nothing at
// all. Only Launcher and ReceiveHeartbeats touch processes, sockets and files.
package launch
