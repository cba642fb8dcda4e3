package credential_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/host/credential"
)

// echo is the address of a server that answers only clients of the verifier's key with what they send.
func echo(t *testing.T, v credential.Verifier, role credential.Role) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serve(t, v.Listen(l, role))
	return l.Addr().String()
}

// serve echoes until the test ends.
func serve(t *testing.T, l net.Listener) {
	t.Helper()
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				_, _ = io.Copy(conn, conn)
				_ = conn.Close()
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		serving.Wait()
	})
}

// served says whether the connection is one of the echoing server's protocol.
func served(conn net.Conn) bool {
	heard := make([]byte, 5)
	_, err := conn.Write([]byte("hello"))
	if err == nil {
		_, err = io.ReadFull(conn, heard)
	}
	return err == nil && string(heard) == "hello"
}

func TestOnlyWhoHasTheAttemptsKeyIsAdmitted(t *testing.T) {
	root := credential.New()
	first, second := root.Derive("attempt 1 of test u"), root.Derive("attempt 2 of test u")
	address := echo(t, second.Verifier(), credential.Control)
	for name, c := range map[string]struct {
		key  credential.Key
		role credential.Role
		want error
	}{
		"the attempt's key":         {second, credential.Control, nil},
		"the earlier attempt's key": {first, credential.Control, credential.ErrRefused},
		"the operator's own key":    {root, credential.Control, credential.ErrRefused},
		"the verifier as a key":     {credential.Key(second.Verifier()), credential.Control, credential.ErrRefused},
		"the key, for another role": {second, credential.Vitals, credential.ErrRefused},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := c.key.Dial(t.Context(), c.role, address)
			if !errors.Is(err, c.want) {
				t.Fatalf("%v, want %v", err, c.want)
			}
			if err == nil {
				defer conn.Close() //nolint:errcheck // a test's
				if !served(conn) {
					t.Error("it was admitted, and isn't served")
				}
			}
		})
	}
}

// A client without a key gets no byte of the server's protocol, whatever it sends.
func TestAStrangerReachesNothingOfTheProtocol(t *testing.T) {
	address := echo(t, credential.New().Verifier(), credential.Control)
	for _, says := range []string{strings.Repeat("x", 64), strings.Repeat("\x00", 4096), "\xff\x00\x00\x00\x00\x00\x00\x00\x01\x7f\x03\x01NULL" + strings.Repeat("\x00", 48)} {
		conn, err := credential.Key{}.Dial(t.Context(), credential.Control, address)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, says)
		heard, _ := io.ReadAll(conn)
		if len(heard) > 40 || len(heard) > 0 && heard[0] != credential.First {
			t.Errorf("a stranger that sent %d bytes heard %q", len(says), heard)
		}
		_ = conn.Close()
	}
}

// The challenge of one connection is of no use on another, and that of one server none at another: a hostile server
// to which the runner connects can't pass it on.
func TestAProofIsGoodForOneConnectionOfOneServer(t *testing.T) {
	key := credential.New()
	victim := echo(t, key.Verifier(), credential.Control)
	stranger, err := credential.Key{}.Dial(t.Context(), credential.Control, victim)
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close() //nolint:errcheck // a test's
	hostile, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer hostile.Close() //nolint:errcheck // a test's
	passed := make(chan bool, 1)
	go func() {
		runner, err := hostile.Accept()
		if err != nil {
			passed <- false
			return
		}
		defer runner.Close() //nolint:errcheck // a test's
		challenge, proof := make([]byte, 40), make([]byte, 64)
		_, _ = io.ReadFull(stranger, challenge)
		_, _ = runner.Write(challenge)
		_, _ = io.ReadFull(runner, proof)
		_, _ = stranger.Write(proof)
		answer := make([]byte, 1)
		_, err = io.ReadFull(stranger, answer)
		passed <- err == nil
	}()
	if _, err := key.Dial(t.Context(), credential.Control, hostile.Addr().String()); !errors.Is(err, credential.ErrRefused) {
		t.Errorf("the runner's call: %v", err)
	}
	if <-passed {
		t.Error("a hostile server was admitted by the proof that it got from the runner")
	}
}

func TestAServerThatDoesNotAskIsNotLinerates(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // a test's
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, "\xff\x00\x00\x00\x00\x00\x00\x00\x01\x7f\x03\x00NULL")
			_ = conn.Close()
		}
	}()
	if _, err := credential.New().Dial(t.Context(), credential.Control, l.Addr().String()); !errors.Is(err, credential.ErrNotAsked) {
		t.Error(err)
	}
}

// pipes are connections in memory, for simulated time.
type pipes struct {
	calls chan net.Conn
	ended chan struct{}
	once  sync.Once
}

func newPipes() *pipes { return &pipes{calls: make(chan net.Conn), ended: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.calls:
		return conn, nil
	case <-p.ended:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.ended) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

// call connects from an address.
func (p *pipes) call(from string) net.Conn {
	ours, theirs := net.Pipe()
	p.calls <- from4{theirs, from}
	return ours
}

// from4 is a connection from an IPv4 address.
type from4 struct {
	net.Conn
	address string
}

func (c from4) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(c.address), Port: 1} }

func TestAStrangerHasFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipes()
		serve(t, credential.New().Verifier().Listen(p, credential.Control))
		for name, says := range map[string]func(net.Conn){
			"silent":             func(net.Conn) {},
			"one byte at a time": func(c net.Conn) { _, _ = c.Write([]byte{1}) },
			"that reads nothing": nil,
		} {
			began, conn := time.Now(), p.call("192.0.2.1")
			if says != nil {
				_, _ = io.ReadFull(conn, make([]byte, 40))
				says(conn)
			}
			if says == nil {
				time.Sleep(5*time.Second + 1)
			}
			if _, err := io.ReadAll(conn); err != nil || time.Since(began) > 5*time.Second+1 {
				t.Errorf("a stranger %s was let go after %s, %v", name, time.Since(began), err)
			}
		}
	})
}

func TestTheServerOfAnAttemptThatIsSilentIsNotWaitedForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer theirs.Close() //nolint:errcheck // a test's
		began := time.Now()
		if err := credential.New().Prove(t.Context(), ours, credential.Control); !errors.Is(err, credential.ErrNotAsked) || time.Since(began) != 5*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := credential.New().Prove(ctx, ours, credential.Control); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// A crowd from one address turns away its own, and never the runner, which calls while the door is full.
func TestACrowdOfStrangersKeepsTheRunnerOutOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, key := newPipes(), credential.New()
		serve(t, key.Verifier().Listen(p, credential.Control))
		runner := p.call("192.0.2.1")
		crowd := make([]net.Conn, 200)
		for i := range crowd {
			crowd[i] = p.call("198.51.100.7")
			defer crowd[i].Close() //nolint:errcheck // a test's
		}
		synctest.Wait()
		if err := key.Prove(t.Context(), runner, credential.Control); err != nil || !served(runner) {
			t.Errorf("who came before the crowd: %v", err)
		}
		late := p.call("192.0.2.1")
		if err := key.Prove(t.Context(), late, credential.Control); err != nil || !served(late) {
			t.Errorf("who came after the crowd: %v", err)
		}
		_, _ = runner.Close(), late.Close()
		atTheDoor := 0
		for _, conn := range crowd {
			_ = conn.SetReadDeadline(time.Now().Add(time.Millisecond))
			if _, err := io.ReadFull(conn, make([]byte, 40)); err == nil {
				atTheDoor++
			}
		}
		if atTheDoor == 0 || atTheDoor > 64 {
			t.Errorf("%d of 200 strangers are at the door, and 64 is the most", atTheDoor)
		}
	})
}

func TestAnErrorOfTheListenerIsToldAndCallersComeAfterIt(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	key := credential.New()
	d := key.Verifier().Listen(&broken{Listener: l, left: 1}, credential.Control)
	if _, err := d.Accept(); err == nil || err.Error() != "too many open files" {
		t.Errorf("%v", err)
	}
	serve(t, d)
	conn, err := key.Dial(t.Context(), credential.Control, l.Addr().String())
	if err != nil || !served(conn) {
		t.Fatal(err)
	}
	_ = conn.Close()
}

// broken is a listener that fails some times first.
type broken struct {
	net.Listener
	left int
}

func (b *broken) Accept() (net.Conn, error) {
	if b.left > 0 {
		b.left--
		return nil, errors.New("too many open files")
	}
	return b.Listener.Accept()
}

func TestAKeyIsInItsDocumentAndInNothingElse(t *testing.T) {
	type document struct {
		Key      credential.Key      `json:"key,omitzero"`
		Verifier credential.Verifier `json:"verifier,omitzero"`
	}
	key := credential.New()
	text, err := json.Marshal(document{key, key.Verifier()})
	if err != nil {
		t.Fatal(err)
	}
	var read document
	if err := json.Unmarshal(text, &read); err != nil || read.Key != key || read.Verifier != key.Verifier() {
		t.Errorf("%s: %v", text, err)
	}
	secret, _ := key.MarshalText()
	if printed := fmt.Sprintf("%v %s %+v %q", key, key, read, key); strings.Contains(printed, string(secret)) {
		t.Errorf("the key is printed: %s", printed)
	}
	if text, _ := json.Marshal(document{}); string(text) != "{}" {
		t.Errorf("%s", text)
	}
	for _, bad := range []string{`{"key":"abc"}`, `{"key":"!"}`, `{"verifier":"` + string(secret) + `A"}`} {
		if err := json.Unmarshal([]byte(bad), &read); err == nil || strings.Contains(err.Error(), string(secret)) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
