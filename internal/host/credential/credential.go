package credential

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net"
	"net/netip"
)

// Role is what a server does. A client proves its key for one role.
type Role string

// The roles of linerate's servers.
const (
	Control   Role = "control"   // makes generators and ends of sessions send
	Heartbeat Role = "heartbeat" // keeps TRex's traffic alive
	Vitals    Role = "vitals"    // reads vital signs and collectors' answers, and has the device reset
)

// Key is a secret, the seed of an Ed25519 key. The zero Key proves nothing, and is for servers that don't ask.
type Key [ed25519.SeedSize]byte

// Verifier is the public half of a Key. The zero Verifier lets everybody in.
type Verifier [ed25519.PublicKeySize]byte

// New is a random key.
func New() (k Key) {
	_, _ = rand.Read(k[:]) // crypto/rand.Read never fails
	return k
}

// Derive is the key that follows from this one for a purpose. Keys of different purposes tell nothing of each
// other, nor of this one (HMAC-SHA256, RFC 2104).
func (k Key) Derive(purpose string) Key {
	sum := hmac.New(sha256.New, k[:])
	sum.Write([]byte(purpose))
	return Key(sum.Sum(nil))
}

// IsZero says that there is no key.
func (k Key) IsZero() bool { return k == Key{} }

// IsZero says that there is no verifier.
func (v Verifier) IsZero() bool { return v == Verifier{} }

// Verifier is what a server needs to check proofs by this key. The zero Key has the zero Verifier.
func (k Key) Verifier() Verifier {
	if k.IsZero() {
		return Verifier{}
	}
	return Verifier(k.private().Public().(ed25519.PublicKey))
}

func (k Key) private() ed25519.PrivateKey { return ed25519.NewKeyFromSeed(k[:]) }

// String hides the key, because logs and errors may contain it.
func (Key) String() string { return "a key" }

// String is the verifier as arguments have it. It is empty for the zero Verifier.
func (v Verifier) String() string {
	if v.IsZero() {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(v[:])
}

// MarshalText is the key itself, for the documents and files that carry it.
func (k Key) MarshalText() ([]byte, error) {
	return base64.RawURLEncoding.AppendEncode(nil, k[:]), nil
}

// UnmarshalText reads what MarshalText wrote.
func (k *Key) UnmarshalText(text []byte) error { return decode(k[:], text, "a key") }

// MarshalText is String.
func (v Verifier) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (v *Verifier) UnmarshalText(text []byte) error { return decode(v[:], text, "a verifier") }

// decode doesn't repeat the text in its error, which may be nearly a key.
func decode(key, text []byte, noun string) error {
	read, err := base64.RawURLEncoding.DecodeString(string(text))
	if err != nil || len(read) != len(key) {
		return fmt.Errorf("%s is %d bytes as base64url without padding (RFC 4648), %d characters: these %d characters are not", noun, len(key), base64.RawURLEncoding.EncodedLen(len(key)), len(text))
	}
	copy(key, read)
	return nil
}

// signed is what a proof signs.
func signed(role Role, server net.Addr, nonce []byte) []byte {
	return fmt.Appendf(nil, "linerate.dev/credential.v1\x00%s\x00%s\x00%s", role, plain(server), nonce)
}

// plain is an address as both sides see it, with IPv4 as IPv4, and without an interface's name, which only one
// machine knows.
func plain(a net.Addr) string {
	address, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return a.String() // of no IP network
	}
	return netip.AddrPortFrom(address.Addr().Unmap().WithZone(""), address.Port()).String()
}
