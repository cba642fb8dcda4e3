package tunnel

import (
	"bufio"
	"cmp"
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
	"github.com/linerate-dev/linerate/internal/plan"
)

// GatewayInPod is a gateway that has no key yet, and whose other gateway is another pod.
type GatewayInPod plan.TunnelGateway

// hello is what the gateways tell each other over the cable before there is a tunnel. Private keys stay in their pods.
//
//	first ── key, proof ──▶ second
//	first ◀── key, proof ── second
//	first ◀─── ok, proof ──▶ second   (of both keys)
type hello struct {
	Key   string `json:"key"`   // the public one, in hexadecimal
	Proof string `json:"proof"` // that who sends it has the token, too
}

// What the conversation takes at most.
const (
	helloBytes = 1024
	helloTime  = 5 * time.Second
	metTime    = time.Minute // once the other's proof is right
	lookAgain  = 200 * time.Millisecond
)

// Meet makes a key, waits until the other gateway answers over the cable, and tells it the public one: what comes of it is a gateway that can serve. Both have a token, by which they know each other; it is
// no key. What keeps them apart is said, each thing once.
func (e GatewayInPod) Meet(ctx context.Context, token string, say func(string)) (Gateway, error) {
	key, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return Gateway{}, fmt.Errorf("make a key: %w", err)
	}
	mine := e.helloOf(hex.EncodeToString(key.PublicKey().Bytes()), e.Local.Addr(), token)
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	answers, end, err := e.answers(ctx, mine, token)
	if err != nil {
		return Gateway{}, err
	}
	defer end()
	said, last := "", error(nil)
	for {
		select {
		case a := <-answers:
			if a.err == nil {
				return e.with(key, a.key)
			}
			last = a.err
		case <-ctx.Done():
			return Gateway{}, fmt.Errorf("the other gateway at %s was never met: %w", e.Peer, cmp.Or(last, ctx.Err()))
		}
		if why := last.Error(); why != said {
			said = why
			say(fmt.Sprintf("the other gateway at %s isn't met yet: %s", e.Peer, why))
		}
	}
}

// answer is what came of a conversation: the other gateway's public key, or why there is none.
type answer struct {
	key *ecdh.PublicKey
	err error
}

// answers has conversations until ctx ends: the second gateway asks again and again, and the first is asked, by several at once where others are on the cable.
func (e GatewayInPod) answers(ctx context.Context, mine hello, token string) (answers <-chan answer, end func(), err error) {
	all := make(chan answer)
	tell := func(key *ecdh.PublicKey, err error) {
		select {
		case all <- answer{key, err}:
		case <-ctx.Done():
		}
	}
	if e.Asks {
		dialer := net.Dialer{Timeout: helloTime, LocalAddr: &net.TCPAddr{IP: e.Local.Addr().AsSlice()}}
		go func() {
			for ; ctx.Err() == nil; _ = pause.For(ctx, lookAgain) {
				conn, err := dialer.DialContext(ctx, "tcp", netip.AddrPortFrom(e.Peer, Port).String())
				if err != nil {
					tell(nil, err)
					continue
				}
				tell(e.greet(ctx, conn, mine, token))
			}
		}()
		return all, func() {}, nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", netip.AddrPortFrom(e.Local.Addr(), Port).String())
	if err != nil {
		return nil, nil, fmt.Errorf("listen for the other gateway: %w", err)
	}
	go func() {
		for ctx.Err() == nil {
			conn, err := l.Accept()
			if err != nil {
				tell(nil, err)
				_ = pause.For(ctx, lookAgain)
				continue
			}
			go func() { tell(e.greet(ctx, conn, mine, token)) }()
		}
	}()
	return all, func() { _ = l.Close() }, nil
}

// greet has one conversation, and returns the other gateway's public key.
func (e GatewayInPod) greet(ctx context.Context, conn net.Conn, mine hello, token string) (*ecdh.PublicKey, error) {
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
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
		return nil, errStranger
	}
	raw, err := hex.DecodeString(theirs.Key)
	if err != nil {
		return nil, fmt.Errorf("its key: %w", err)
	}
	if err := conn.SetDeadline(time.Now().Add(metTime)); err != nil { // whoever has met the other one asks and listens no more, so neither gives up early
		return nil, err
	}
	if _, err := fmt.Fprintln(conn, metProof(mine.Key, theirs.Key, token)); err != nil {
		return nil, err
	}
	if line, err = in.ReadBytes('\n'); err != nil { // it thinks otherwise of this one
		return nil, err
	}
	if !hmac.Equal(line, []byte(metProof(theirs.Key, mine.Key, token)+"\n")) {
		return nil, errStranger
	}
	return ecdh.X25519().NewPublicKey(raw)
}

// errStranger is of one who has no proof, or one of an earlier conversation.
var errStranger = errors.New("who answers there isn't of this test: its network has to join this test's gateways alone")

// metProof says that the gateway of one key has read the other's: it holds for this conversation only.
func metProof(own, other, token string) string {
	proof := hmac.New(sha256.New, []byte(token))
	_, _ = fmt.Fprintf(proof, "%s met %s", own, other) // a hash takes all
	return hex.EncodeToString(proof.Sum(nil))
}

// helloOf is what the gateway at an address says of its key. The address is part of the proof, so nobody can be told his own.
func (e GatewayInPod) helloOf(key string, at netip.Addr, token string) hello {
	proof := hmac.New(sha256.New, []byte(token))
	_, _ = fmt.Fprintf(proof, "%s at %s", key, at) // a hash takes all
	return hello{Key: key, Proof: hex.EncodeToString(proof.Sum(nil))}
}

// with is the gateway with its keys.
func (e GatewayInPod) with(key *ecdh.PrivateKey, theirs *ecdh.PublicKey) (Gateway, error) {
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
