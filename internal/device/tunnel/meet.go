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

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/bounded"
)

// GatewayInPod is a gateway that has no key yet, and whose other gateway is another pod.
type GatewayInPod plan.TunnelGateway

// hello is the message by which gateways exchange public keys over the cable before there is a tunnel. Private
// keys stay in their pods.
//
//	first ── key, proof ──▶ second
//	first ◀── key, proof ── second
//	first ◀─── ok, proof ──▶ second   (of both keys)
type hello struct {
	Key   string `json:"key"`   // the public one, in hexadecimal
	Proof string `json:"proof"` // that the sender has the token, too
}

// What the conversation takes at most.
const (
	helloBytes = 1024
	helloTime  = 5 * time.Second
	metTime    = time.Minute // once the other gateway's proof is right
	lookAgain  = 200 * time.Millisecond
)

// Meet makes a pair of keys, waits until the other gateway answers over the cable, exchanges public keys with
// it, and returns a gateway that can serve. Both gateways recognize each other by the test's token, from which
// no key is made. While they can't meet, report is called with the reason, once for each new one.
func (e GatewayInPod) Meet(ctx context.Context, token string, report func(string)) (Gateway, error) {
	key, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return Gateway{}, fmt.Errorf("make a key: %w", err)
	}
	greeting := e.helloOf(hex.EncodeToString(key.PublicKey().Bytes()), e.Local.Addr(), token)
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	answers, end, err := e.answers(ctx, greeting, token)
	if err != nil {
		return Gateway{}, err
	}
	defer end()
	reported, problem := "", error(nil)
	for {
		select {
		case a := <-answers:
			if a.err == nil {
				return e.gateway(key, a.key)
			}
			problem = a.err
		case <-ctx.Done():
			return Gateway{}, fmt.Errorf("the other gateway at %s was never met: %w", e.Peer,
				cmp.Or(problem, ctx.Err()))
		}
		if reason := problem.Error(); reason != reported {
			reported = reason
			report(fmt.Sprintf("the other gateway at %s can't be met yet: %s", e.Peer, reason))
		}
	}
}

// answer is the result of a conversation, the other gateway's public key, or why there is none.
type answer struct {
	key *ecdh.PublicKey
	err error
}

// answers has conversations with the other gateway until ctx ends. The gateway that Asks dials again and again.
// The other one listens, and several may dial it at once if strangers are on the cable.
func (e GatewayInPod) answers(ctx context.Context, greeting hello, token string) (answers <-chan answer, end func(),
	err error) {
	results := make(chan answer)
	send := func(key *ecdh.PublicKey, err error) {
		select {
		case results <- answer{key, err}:
		case <-ctx.Done():
		}
	}
	if e.Connects {
		dialer := net.Dialer{Timeout: helloTime, LocalAddr: &net.TCPAddr{IP: e.Local.Addr().AsSlice()}}
		go func() {
			for ; ctx.Err() == nil; _ = bounded.Pause(ctx, lookAgain) {
				conn, err := dialer.DialContext(ctx, "tcp", netip.AddrPortFrom(e.Peer, Port).String())
				if err != nil {
					send(nil, err)
					continue
				}
				send(e.exchange(ctx, conn, greeting, token))
			}
		}()
		return results, func() {}, nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", netip.AddrPortFrom(e.Local.Addr(), Port).String())
	if err != nil {
		return nil, nil, fmt.Errorf("listen for the other gateway: %w", err)
	}
	go func() {
		for ctx.Err() == nil {
			conn, err := l.Accept()
			if err != nil {
				send(nil, err)
				_ = bounded.Pause(ctx, lookAgain)
				continue
			}
			go func() { send(e.exchange(ctx, conn, greeting, token)) }()
		}
	}()
	return results, func() { _ = l.Close() }, nil
}

// exchange has one conversation, and returns the other gateway's public key.
func (e GatewayInPod) exchange(
	ctx context.Context, conn net.Conn, greeting hello, token string,
) (*ecdh.PublicKey, error) {
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if err := conn.SetDeadline(time.Now().Add(helloTime)); err != nil {
		return nil, err
	}
	if err := json.NewEncoder(conn).Encode(greeting); err != nil {
		return nil, err
	}
	reader := bufio.NewReader(io.LimitReader(conn, helloBytes))
	line, err := reader.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	var theirs hello
	if err := json.Unmarshal(line, &theirs); err != nil ||
		!hmac.Equal([]byte(theirs.Proof), []byte(e.helloOf(theirs.Key, e.Peer, token).Proof)) {
		return nil, errStranger
	}
	raw, err := hex.DecodeString(theirs.Key)
	if err != nil {
		return nil, fmt.Errorf("its key: %w", err)
	}
	// a gateway that has met the other one neither dials nor listens any more, so neither may give up early
	if err := conn.SetDeadline(time.Now().Add(metTime)); err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintln(conn, metProof(greeting.Key, theirs.Key, token)); err != nil {
		return nil, err
	}
	if line, err = reader.ReadBytes('\n'); err != nil { // the other gateway refused this one
		return nil, err
	}
	if !hmac.Equal(line, []byte(metProof(theirs.Key, greeting.Key, token)+"\n")) {
		return nil, errStranger
	}
	return ecdh.X25519().NewPublicKey(raw)
}

// errStranger is returned for a peer without a proof, or with the proof of an earlier conversation.
var errStranger = errors.New("what answers there isn't a gateway of this test: the cable's network must connect this " +
	"test's two gateways, and nothing else")

// metProof proves that the gateway with one key has read the other's. It is valid in this conversation only.
func metProof(key, peerKey, token string) string {
	proof := hmac.New(sha256.New, []byte(token))
	_, _ = fmt.Fprintf(proof, "%s met %s", key, peerKey) // a hash takes all
	return hex.EncodeToString(proof.Sum(nil))
}

// helloOf is the hello of the gateway at an address, for its key. The address is part of the proof, so a
// gateway's own hello, sent back to it, isn't valid.
func (e GatewayInPod) helloOf(key string, address netip.Addr, token string) hello {
	proof := hmac.New(sha256.New, []byte(token))
	_, _ = fmt.Fprintf(proof, "%s at %s", key, address) // a hash takes all
	return hello{Key: key, Proof: hex.EncodeToString(proof.Sum(nil))}
}

// gateway returns the gateway with its keys.
func (e GatewayInPod) gateway(key *ecdh.PrivateKey, theirs *ecdh.PublicKey) (Gateway, error) {
	g := Gateway{
		Kind: e.Kind, Cipher: e.Cipher, Local: e.Local.Addr(), Peer: netip.AddrPortFrom(e.Peer, Port), Asks: e.Connects,
		MTU: e.MTU, Behind: e.LocalNetworks, Networks: e.PeerNetworks, InPod: true,
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
