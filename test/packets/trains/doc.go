// Package trains tests trains of frames with real packets, from linerate's client to its engine and through devices: what
// a device takes for a frame, frames that it loses, and frames that it puts into another order.
//
//	client ─▶ server ─▶ west ══ d0 ─▶ [ device ] ─▶ d1 ══ east
package trains
