// Package reset has a device reset between trials by somebody beside it, who is asked for it over the pods' network.
//
//	runner ── POST /reset, over a connection that has proved the attempt's key ──▶ a container in the device's pod: one command, named when the pod was made
//	       ◀── what it did, how long it took ──
//
// Nothing that the asker says reaches the command: who has the key may have it run, and no more. The server's listener checks the key (package credential).
package reset
