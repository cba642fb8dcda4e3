// Package truth compares a Report with the device that was measured, on any machine, however busy.
//
// The test knows the device's limit, and the judge of the run never does. On a calm machine a Report states the
// limit. On a busy one it may state less, such as a lower bound, or windows that decide nothing. What it may never do
// is claim what isn't true:
//
//	                      limit
//	──────────┬─────────────┼──────┬────────────▶ packets/s
//	       received         │   received ÷ (1 − resolution)
//	          └── "saturated" ─────┘                the limit is within, or the claim is wrong
//	          └── a lower bound ───────────▶        the limit is above it, or the claim is wrong
//	   a window that lost frames down here is wrong │
//
// Each direction is compared with its own limit. A Report without a result for each direction (Limit) claims for each
// direction what it claims for the whole.
package truth
