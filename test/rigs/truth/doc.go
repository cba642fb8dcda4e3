// Package truth holds a Report against the device that it was measured of, on any machine, however busy.
//
// The judge never knows a device's limit; the test does. On a calm machine a Report says the limit. On a busy one it may say less: a lower bound, or
// windows that say nothing. What it may never do is claim what isn't so:
//
//	                      limit
//	──────────┬─────────────┼──────┬────────────▶ packets/s
//	       received         │   received ÷ (1 − resolution)
//	          └── "saturated" ─────┘                the limit is within, or the claim is wrong
//	          └── a lower bound ───────────▶        the limit is above it, or the claim is wrong
//	   a window that lost frames down here is wrong │
//
// Each direction is held against its own limit: a Report that says nothing of each direction by itself (Limit) says of each what it says of the whole.
package truth
