// Package backtoback finds the longest burst of back-to-back frames that a device carries without loss, and how many of
// its frames the device held (RFC 9004). A trial at the bursts' rate shows first how fast the device forwards while it
// is overloaded. Then the longest burst is searched for again and again, each time anew, in all directions at once.
//
//	frames   sent at the bursts' rate  ╱
//	 ▲                               ╱ ┃ held in the device's buffer, full at the end of the longest burst without loss
//	 │                             ╱   ┃
//	 │                           ╱  ╱──┸ forwarded meanwhile
//	 │                         ╱ ╱
//	 └───────────────────────◢─────────▶ time
package backtoback
