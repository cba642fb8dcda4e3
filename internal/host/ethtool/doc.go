// Package ethtool asks the kernel what a network card is, how it is set and what it counted, in the calling thread's
// network namespace: its link, rings, queues, coalescing, offloads and clock (ethtool.go), the module in its cage
// (module.go), and its driver's own counters (counters.go). It speaks ethtool's netlink, and its ioctl for the
// counters, which netlink doesn't have. What a driver doesn't say is zero.
package ethtool
