// Package units holds the quantities of network measurement as exact integers, and the arithmetic between them and
// a line rate. The quantities are packet rates, bit rates, ratios, frame sizes and stretches of traffic.
//
// A naked number never crosses a package boundary. A rate is a PacketRate or a BitRate, and a share is a Ratio.
// Every conversion is computed exactly and rounded once, to the nearest whole number of its result's unit, halves
// away from zero. A result beyond int64 is cut off at its end unless the function returns an error. Floats take no
// part in arithmetic. The only one (PacketRate.PerSecond) feeds a wire format. Formatting for people is the last
// step and lives beside the type.
//
// Beside the quantities are packages that compute with figures of any kind:
//
//	wording      figures and counts as sentences and tables have them
//	statistics   median, spread and interval of repeated runs
//	transit      latencies in buckets of at most 1 % width, percentiles, HdrHistogram's encoding
package units
