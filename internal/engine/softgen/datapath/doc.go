// Package datapath moves frames: it plays compiled streams onto a Linux interface at an exact pace, and counts,
// answers, captures and time-stamps what the interface receives. It knows nothing of RPC; softgen's server
// drives it.
package datapath
