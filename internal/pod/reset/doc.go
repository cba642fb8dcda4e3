// Package reset resets a device between trials. The runner asks a container beside the device over the pods' network.
//
//	runner ── POST /reset, over a connection ──▶ a container in the device's pod, which runs
//	       that has proved the attempt's key     one command, named when the pod was made
//	       ◀── what it did, how long it took ──
//
// Nothing that the runner sends reaches the command. A client with the key may have the command run, and no
// more. The server's listener checks the key (package credential).
package reset
