package tunnel

import (
	"bufio"
	"context"
	"crypto/ecdh"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"

	"github.com/linerate-dev/linerate/internal/pause"
)

// End is a gateway in a pod, which has no key yet, and whose other one is another pod.
type End struct {
	Kind   string `json:"kind"`
	Cipher string `json:"cipher,omitempty"` // of IPsec
	// Local is its address on the cable, and Peer the other one's.
	Local netip.Prefix `json:"local"`
	Peer  netip.Addr   `json:"peer"`
	// Asks: it looks for the other one, which waits for it.
	Asks bool `json:"asks,omitempty"`
	MTU  int  `json:"mtu"`
	// Behind are the networks behind this gateway, Networks those behind the other one.
	Behind   []netip.Prefix `json:"behind,omitempty"`
	Networks []netip.Prefix `json:"networks"`
}

// hello is what the gateways tell each other over the cable before there is a tunnel. Private keys stay in their pods.
//
//	first ── key, proof ──▶ second
//	first ◀── key, proof ── second
//	first ◀────── ok ─────▶ second
type hello struct {
	Key   string `json:"key"`   // the public one, in hexadecimal
	Proof string `json:"proof"` // that who sends it has the token, too
}

// What the conversation takes at most.
const (
	helloBytes = 1024
	helloTime  = 5 * time.Second
	lookAgain  = 200 * time.Millisecond
)

// Meet makes a key, waits until the other gateway answers over the cable, and tells it the public one: what comes of it is a gateway that can serve. Both have a token, by which they know each other; it is
// no key. What keeps them apart is said, each thing once.
func (e End) Meet(ctx context.Context, token string, say func(string)) (Gateway, error) {
	key, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return Gateway{}, fmt.Errorf("make a key: %w", err)
	}
	mine := e.helloOf(hex.EncodeToString(key.PublicKey().Bytes()), e.Local.Addr(), token)
	find, end, err := e.finder(ctx)
	if err != nil {
		return Gateway{}, err
	}
	defer end()
	said := ""
	for {
		theirs, err := e.greet(find, mine, token)
		if err == nil {
			return e.with(key, theirs)
		}
		if ctx.Err() != nil {
			return Gateway{}, fmt.Errorf("the other gateway at %s was never met: %w", e.Peer, err)
		}
		if why := err.Error(); why != said {
			said = why
			say(fmt.Sprintf("the other gateway at %s isn't met yet: %s", e.Peer, why))
		}
		_ = pause.For(ctx, lookAgain)
	}
}

// finder makes one connection after another: the second gateway asks, the first is asked.
func (e End) finder(ctx context.Context) (find func() (net.Conn, error), end func(), err error) {
	if e.Asks {
		dialer := net.Dialer{Timeout: helloTime, LocalAddr: &net.TCPAddr{IP: e.Local.Addr().AsSlice()}}
		return func() (net.Conn, error) {
			return dialer.DialContext(ctx, "tcp", netip.AddrPortFrom(e.Peer, Port).String())
		}, func() {}, nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", netip.AddrPortFrom(e.Local.Addr(), Port).String())
	if err != nil {
		return nil, nil, fmt.Errorf("listen for the other gateway: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	return l.Accept, func() { stop(); _ = l.Close() }, nil
}

// greet has one conversation, and returns the other gateway's public key.
func (e End) greet(find func() (net.Conn, error), mine hello, token string) (*ecdh.PublicKey, error) {
	conn, err := find()
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(helloTime)); err != nil {
		return nil, err
	}
	if err := json.NewEncoder(conn).Encode(mine); err != nil {
		return nil, err
	}
	in := bufio.NewReader(io.LimitReader(conn, helloBytes))
	line, err := in.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	var theirs hello
	if err := json.Unmarshal(line, &theirs); err != nil || !hmac.Equal([]byte(theirs.Proof), []byte(e.helloOf(theirs.Key, e.Peer, token).Proof)) {
		return nil, errors.New("who answers there isn't of this test: its network has to join this test's gateways alone")
	}
	raw, err := hex.DecodeString(theirs.Key)
	if err != nil {
		return nil, fmt.Errorf("its key: %w", err)
	}
	if _, err := io.WriteString(conn, "ok\n"); err != nil {
		return nil, err
	}
	if _, err := in.ReadBytes('\n'); err != nil { // it thinks otherwise of this one
		return nil, err
	}
	return ecdh.X25519().NewPublicKey(raw)
}

// helloOf is what the gateway at an address says of its key. The address is part of the proof, so nobody can be told his own.
func (e End) helloOf(key string, at netip.Addr, token string) hello {
	proof := hmac.New(sha256.New, []byte(token))
	_, _ = fmt.Fprintf(proof, "%s at %s", key, at) // a hash takes all
	return hello{Key: key, Proof: hex.EncodeToString(proof.Sum(nil))}
}

// with is the gateway with its keys.
func (e End) with(key *ecdh.PrivateKey, theirs *ecdh.PublicKey) (Gateway, error) {
	g := Gateway{
		Kind: e.Kind, Cipher: e.Cipher, Local: e.Local.Addr(), Peer: netip.AddrPortFrom(e.Peer, Port), Asks: e.Asks, MTU: e.MTU, Behind: e.Behind, Networks: e.Networks, InPod: true,
		PrivateKey: hex.EncodeToString(key.Bytes()), PeerKey: hex.EncodeToString(theirs.Bytes()),
	}
	shared, err := key.ECDH(theirs)
	if err != nil {
		return Gateway{}, fmt.Errorf("the other gateway's key: %w", err)
	}
	secret := sha256.Sum256(shared)
	g.Secret = hex.EncodeToString(secret[:])
	return g, nil
}
