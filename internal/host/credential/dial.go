package credential

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

const (
	// opening names the protocol. No ZeroMQ peer begins with its first byte.
	opening = "LRCRED1\n"
	// First is the first byte that a client gets from a server that asks for a credential.
	First = 'L'

	nonceSize  = 32
	admitted   = 0x06            // ACK
	proofBound = 5 * time.Second // for all of the exchange
)

var (
	// ErrAsked is the error of a client that has no key where one is asked for.
	ErrAsked = errors.New("the server asks for a credential, and this client has none")
	// ErrNotAsked is the error of a client whose key isn't asked for, since such a server would let anybody in.
	ErrNotAsked = errors.New("the server doesn't ask for the credential of this run: it is not linerate's, or a linerate of another release")
	// ErrRefused is the error of a client that isn't admitted.
	ErrRefused = errors.New("the server refused the credential: it belongs to another attempt or run, or the address that was called isn't the server's own (NAT)")
)

// Dial connects to host:port over TCP, and proves the key there. The zero Key proves nothing.
func (k Key) Dial(ctx context.Context, role Role, address string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	if k.IsZero() {
		return conn, nil
	}
	if err := k.Prove(ctx, conn, role); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", address, err), conn.Close())
	}
	return conn, nil
}

// Dialer is Dial for one role.
func (k Key) Dialer(role Role) func(ctx context.Context, address string) (net.Conn, error) {
	return func(ctx context.Context, address string) (net.Conn, error) { return k.Dial(ctx, role, address) }
}

// DialerOrPlain is Dialer; nil of a zero key, which clients of engines take for plain TCP.
func (k Key) DialerOrPlain(role Role) func(ctx context.Context, address string) (net.Conn, error) {
	if k.IsZero() {
		return nil
	}
	return k.Dialer(role)
}

// Prove proves the key to the server of a new connection, until ctx ends, within 5 s at most.
func (k Key) Prove(ctx context.Context, conn net.Conn, role Role) error {
	if err := conn.SetDeadline(time.Now().Add(proofBound)); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	err := k.prove(conn, role)
	if !stop() {
		return context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	return conn.SetDeadline(time.Time{})
}

func (k Key) prove(conn net.Conn, role Role) error {
	var challenge [len(opening) + nonceSize]byte
	if _, err := io.ReadFull(conn, challenge[:len(opening)]); err != nil {
		return notAsked(err)
	}
	if string(challenge[:len(opening)]) != opening {
		return ErrNotAsked
	}
	if _, err := io.ReadFull(conn, challenge[len(opening):]); err != nil {
		return fmt.Errorf("read the server's challenge: %w", err)
	}
	if _, err := conn.Write(ed25519.Sign(k.private(), signed(role, conn.RemoteAddr(),
		challenge[len(opening):]))); err != nil {
		return fmt.Errorf("prove the credential: %w", err)
	}
	var answer [1]byte
	if _, err := io.ReadFull(conn, answer[:]); err != nil || answer[0] != admitted {
		return errors.Join(ErrRefused, err)
	}
	return nil
}

// notAsked distinguishes a silent server from one that can't be reached any more. A program that was stopped is as
// silent as one that asks for nothing.
func notAsked(err error) error {
	var late net.Error
	if errors.As(err, &late) && late.Timeout() {
		return fmt.Errorf("it says nothing for %s: its program stands still, or %w", proofBound, ErrNotAsked)
	}
	return fmt.Errorf("await the server's challenge: %w", err)
}
