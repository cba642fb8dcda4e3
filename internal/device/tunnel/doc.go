// Package tunnel runs one gateway of an encrypted tunnel, WireGuard or IPsec, in user space. Two of them are a
// device under test.
package tunnel
