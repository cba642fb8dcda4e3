// Package trains tests trains of frames with real packets, from linerate's client to its engine and through devices.
// They show what a device takes for a frame, which frames it loses, and which it puts into another order.
//
//	client ─▶ server ─▶ west ══ d0 ─▶ [ device ] ─▶ d1 ══ east
package trains
