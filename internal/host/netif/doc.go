// Package netif sets up what a network is made of on this machine. It sets interfaces of the calling thread's network namespace: addresses, neighbours, IPv4
// forwarding, offloads, and the receive queue that frames sent by XDP need. It makes network namespaces that have no name, and runs code in them (netspace.go).
// It makes the parts of nftables rules that several packages use (nftrule.go).
package netif
