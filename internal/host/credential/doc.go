// Package credential has linerate's servers answer only clients that prove that they have the key of their attempt.
// A server is given a verifier, with which nobody can prove anything, as in a pod's arguments.
//
//	server ──▶ client   8 bytes that name this protocol, and a nonce of 32 bytes
//	client ──▶ server   an Ed25519 signature (RFC 8032) of the server's role and address, and of the nonce
//	server ──▶ client   one byte: the client is admitted; from here on the connection is the protocol's own
//
// The nonce makes a signature useless on another connection, and the address makes it useless to a server that
// passes on another server's nonce. So an address that is translated between the two (NAT) is refused. Nothing is
// encrypted. A host that can change packets between the two can take over an admitted connection.
package credential
