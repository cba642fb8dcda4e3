// Package run holds the packages that carry a Plan out.
//
//	runner       carries a procedure out by a driver, step by step, and always returns a Report
//	frames       the driver of generators of frames: barrier, path, silence, loads, readings, drain
//	sessions     TCP and UDP between two ends of linerate's own: wire protocol, ends, driver
//	iperf3       iperf3's protocol, as a client and as a server
package run
