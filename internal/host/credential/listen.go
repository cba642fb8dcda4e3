package credential

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// mostStrangers is how many callers that haven't proved a key yet may be at the door at a time.
const mostStrangers = 64

// Listen accepts from l only connections that prove the verifier's key for the role, and closes all others. The
// zero Verifier is l itself.
//
// Callers are asked at the same time, so that a silent caller keeps nobody waiting. Where more than 64 callers are
// at the door, the address with the most callers loses its oldest one, so that one address can't keep another one
// out.
func (v Verifier) Listen(l net.Listener, role Role) net.Listener {
	if v.IsZero() {
		return l
	}
	d := &door{Listener: l, verifier: v, role: role, accepted: make(chan accepted), closed: make(chan struct{})}
	d.asking.Go(d.answer)
	return d
}

type door struct {
	net.Listener
	verifier Verifier
	role     Role
	accepted chan accepted
	closed   chan struct{}
	closing  sync.Once
	asking   sync.WaitGroup

	mu        sync.Mutex
	strangers []net.Conn // the oldest first
}

// accepted is what Accept returns.
type accepted struct {
	conn net.Conn
	err  error
}

// Accept returns the next caller that was admitted.
func (d *door) Accept() (net.Conn, error) {
	select {
	case a := <-d.accepted:
		return a.conn, a.err
	case <-d.closed:
		return nil, net.ErrClosed
	}
}

// Close closes the listener, and turns away all who are at the door.
func (d *door) Close() error {
	var err error
	d.closing.Do(func() {
		close(d.closed)
		err = d.Listener.Close()
		d.mu.Lock()
		for _, conn := range d.strangers {
			_ = conn.Close()
		}
		d.mu.Unlock()
	})
	d.asking.Wait()
	return err
}

// answer asks each caller until the listener is closed. Accept returns other errors of the listener.
func (d *door) answer() {
	for {
		conn, err := d.Listener.Accept()
		switch {
		case err == nil:
			d.enter(conn)
			d.asking.Go(func() { d.ask(conn) })
		case !d.pass(accepted{err: err}) || errors.Is(err, net.ErrClosed):
			return
		}
	}
}

// pass hands something to Accept. It returns false where the door is closed.
func (d *door) pass(a accepted) bool {
	select {
	case d.accepted <- a:
		return true
	case <-d.closed:
		return false
	}
}

// enter lists a caller, and turns another one away where too many are at the door.
func (d *door) enter(conn net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.strangers) == mostStrangers {
		i := d.crowd()
		_ = d.strangers[i].Close()
		d.strangers = slices.Delete(d.strangers, i, i+1)
	}
	d.strangers = append(d.strangers, conn)
	select {
	case <-d.closed: // Close may have looked at the list before
		_ = conn.Close()
	default:
	}
}

// leave takes a caller off the list. It returns false where the caller was turned away before.
func (d *door) leave(conn net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.Index(d.strangers, conn)
	if i >= 0 {
		d.strangers = slices.Delete(d.strangers, i, i+1)
	}
	return i >= 0
}

// crowd is the oldest caller of the address that has the most callers at the door.
func (d *door) crowd() (oldest int) {
	count := map[netip.Addr]int{}
	for _, conn := range d.strangers {
		count[hostOf(conn)]++
	}
	for i, conn := range d.strangers {
		if count[hostOf(conn)] > count[hostOf(d.strangers[oldest])] {
			oldest = i
		}
	}
	return oldest
}

func hostOf(conn net.Conn) netip.Addr {
	// an address of no IP network becomes the zero address
	address, _ := netip.ParseAddrPort(conn.RemoteAddr().String())
	return address.Addr().Unmap()
}

// ask admits a caller that proves the key, and closes the connection of one that doesn't.
func (d *door) ask(conn net.Conn) {
	err := d.verify(conn)
	if !d.leave(conn) || err != nil || !d.pass(accepted{conn: conn}) {
		_ = conn.Close()
	}
}

func (d *door) verify(conn net.Conn) error {
	challenge := append([]byte(opening), make([]byte, nonceSize)...)
	nonce := challenge[len(opening):]
	_, _ = rand.Read(nonce) // crypto/rand.Read never fails
	if err := conn.SetDeadline(time.Now().Add(proofBound)); err != nil {
		return err
	}
	if _, err := conn.Write(challenge); err != nil {
		return err
	}
	var signature [ed25519.SignatureSize]byte
	if _, err := io.ReadFull(conn, signature[:]); err != nil {
		return err
	}
	if !ed25519.Verify(d.verifier[:], signed(d.role, conn.LocalAddr(), nonce), signature[:]) {
		return ErrRefused
	}
	if _, err := conn.Write([]byte{admitted}); err != nil {
		return err
	}
	return conn.SetDeadline(time.Time{})
}
