// Package netif sets up a network on this machine. It sets addresses, neighbours, IPv4 forwarding, offloads, and
// the receive queue that frames sent by XDP need, on interfaces of the calling thread's network namespace. It makes
// network namespaces that have no name, and runs code in them (netspace.go). It makes the parts of nftables rules
// that several packages use (nftrule.go).
package netif
