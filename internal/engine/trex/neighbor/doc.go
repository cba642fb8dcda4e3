// Package neighbor builds and reads the frames by which an address is asked for its MAC, ARP for IPv4 (RFC 826) and
// neighbour discovery for IPv6 (RFC 4861). It is pure. The caller sends and receives.
package neighbor
