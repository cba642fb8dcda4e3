// Package units holds the quantities of network measurement as exact integers: packet rates, bit rates, ratios, frame sizes and
// stretches of traffic, and the arithmetic between them and a line rate.
//
// A naked number never crosses a package boundary: what is a rate is a PacketRate or a BitRate, what is a share is a Ratio. Floats
// appear nowhere here; formatting for people is the last step and lives beside the type.
package units
