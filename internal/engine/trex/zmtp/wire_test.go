package zmtp_test

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/trex/zmtp"
)

// opening is what a ZMTP 3.1 NULL peer of the type begins with.
func opening(mechanism, socketType string) string {
	greeting := "\xff\x00\x00\x00\x00\x00\x00\x00\x01\x7f\x03\x01" + mechanism +
		strings.Repeat("\x00", 52-len(mechanism))
	ready := "\x05READY\x0bSocket-Type\x00\x00\x00" + string(rune(len(socketType))) + socketType
	return greeting + "\x04" + string(rune(len(ready))) + ready
}

// raw plays a peer that writes the given bytes and swallows what it reads.
func raw(t *testing.T, bytes ...string) net.Conn {
	t.Helper()
	ours, theirs := net.Pipe()
	go func() { _, _ = io.Copy(io.Discard, theirs) }()
	go func() {
		for _, s := range bytes {
			if _, err := io.WriteString(theirs, s); err != nil {
				return
			}
		}
		_ = theirs.Close()
	}()
	return ours
}

func TestPeersThatDoNotSpeakZeroMQ(t *testing.T) {
	cases := map[string]struct{ sent, want string }{
		"a web server":        {"HTTP/1.1 400 Bad Request\r\n\r\n", "doesn't speak ZeroMQ"},
		"an old ZeroMQ":       {opening("NULL", "REP")[:10] + "\x01" + opening("NULL", "REP")[11:], "ZMTP 1"},
		"a secured server":    {opening("CURVE", "REP"), `security mechanism "CURVE"`},
		"a publisher":         {opening("NULL", "PUB"), `a "PUB" socket: REP or ROUTER is needed`},
		"a greeting cut off":  {opening("NULL", "REP")[:30], "unexpected EOF"},
		"a message for READY": {opening("NULL", "REP")[:64] + "\x00\x01x", "where READY was due"},
		"READY with a lie inside": {opening("NULL", "REP")[:64] + "\x04\x0b\x05READY\x01x\xff\xff\xff\xff",
			"malformed READY"},
		"READY cut inside a name": {opening("NULL", "REP")[:64] + "\x04\x07\x05READY\x09", "malformed READY"},
		"an ERROR":                {opening("NULL", "REP")[:64] + "\x04\x0a\x05ERROR\x03no!", "refused"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			client, err := zmtp.NewClient(t.Context(), raw(t, c.sent))
			if err == nil {
				_ = client.Close()
				t.Fatal("accepted")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q says nothing of %q", err, c.want)
			}
		})
	}
}

func TestInvalidReplies(t *testing.T) {
	greeted := opening("NULL", "REP")
	cases := map[string]struct{ sent, want string }{
		"no delimiter":           {"\x00\x02ok", "reply of 1 frames"},
		"announced exabytes":     {"\x01\x00\x02\x7f\xff\xff\xff\xff\xff\xff\xff", "the limit is"},
		"large and cut off":      {"\x01\x00\x02\x00\x00\x00\x00\x01\x00\x00\x00abc", "unexpected EOF"},
		"unknown flags":          {"\xf0\x02ok", "unknown flags"},
		"endless frames":         {strings.Repeat("\x01\x00", 40), "more than 16 frames"},
		"a command without name": {"\x04\x00", "malformed command"},
		"a PING without TTL":     {"\x04\x05\x04PING", "malformed PING"},
		"nothing":                {"", "closed the connection"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			ours, theirs := net.Pipe()
			served := make(chan struct{})
			go func() {
				defer close(served)
				_, _ = io.WriteString(theirs, greeted)
				swallow(theirs, 64+2+len("\x05READY\x0bSocket-Type1234REQ\x08Identity1234")) // opening
				swallow(theirs, 2+2+1)                                                       // ["", "?"]
				_, _ = io.WriteString(theirs, c.sent)
				_ = theirs.Close()
			}()
			client, err := zmtp.NewClient(t.Context(), ours)
			if err != nil {
				t.Fatal(err)
			}
			_, err = client.Do(t.Context(), []byte("?"))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Do returned %v, which says nothing of %q", err, c.want)
			}
			_ = client.Close()
			<-served
		})
	}
}

func swallow(r io.Reader, n int) { _, _ = io.CopyN(io.Discard, r, int64(n)) }

func TestHeartbeatsAreAnswered(t *testing.T) {
	ping := "\x04\x0a\x04PING\x00\x64hey"
	pong := "\x04\x08\x04PONGhey"
	t.Run("while a handler works", func(t *testing.T) {
		release := make(chan struct{})
		address := serve(t, func(_ context.Context, request []byte) []byte { <-release; return request })
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, opening("NULL", "REQ")+"\x01\x00\x00\x01?"+ping)
		swallow(conn, 64+2+len("\x05READY\x0bSocket-Type1234REP"))
		expect(t, conn, pong)
		close(release)
		expect(t, conn, "\x01\x00\x00\x01?")
	})
	t.Run("by an idle client", func(t *testing.T) {
		ours, theirs := net.Pipe()
		go func() { _, _ = io.WriteString(theirs, opening("NULL", "REP")+ping) }()
		clients := make(chan *zmtp.Client, 1)
		go func() {
			c, err := zmtp.NewClient(context.Background(), ours)
			if err != nil {
				t.Error(err)
			}
			clients <- c
		}()
		swallow(theirs, 64+2+len("\x05READY\x0bSocket-Type1234REQ\x08Identity1234"))
		expect(t, theirs, pong)
		_ = (<-clients).Close()
	})
}

func expect(t *testing.T, r io.Reader, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(r, got); err != nil || string(got) != want {
		t.Errorf("read %q, %v; want %q", got, err, want)
	}
}

func TestADealerKeepsItsEnvelope(t *testing.T) {
	conn, err := net.Dial("tcp", serve(t, echo))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, opening("NULL", "DEALER")+"\x01\x02id"+"\x01\x00"+"\x00\x01?")
	swallow(conn, 64+2+len("\x05READY\x0bSocket-Type1234REP"))
	expect(t, conn, "\x01\x02id\x01\x00\x00\x04re:?")
}

func TestAClientThatNeverGreetsIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		l := newPipeListener()
		ended := make(chan error, 1)
		go func() { ended <- zmtp.Serve(ctx, l, echo) }()
		conn := l.dial()
		began := time.Now()
		_, _ = io.Copy(io.Discard, conn)
		if waited := time.Since(began); waited != 5*time.Second {
			t.Errorf("dropped after %v", waited)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func FuzzServer(f *testing.F) {
	f.Add(opening("NULL", "REQ") + "\x01\x00\x00\x01?")
	f.Add(opening("NULL", "DEALER") + "\x04\x0a\x04PING\x00\x64hey\x00\x01?")
	f.Add(opening("NULL", "REQ") + "\x02\x00\x00\x00\x00\x00\x00\x01\x00x")
	f.Fuzz(func(t *testing.T, bytes string) {
		ctx, cancel := context.WithCancel(t.Context())
		l := newPipeListener()
		ended := make(chan error, 1)
		go func() { ended <- zmtp.Serve(ctx, l, echo) }()
		conn := l.dial()
		drained := make(chan struct{})
		go func() { defer close(drained); _, _ = io.Copy(io.Discard, conn) }()
		_, _ = io.WriteString(conn, bytes)
		cancel()
		_ = conn.Close()
		<-drained
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
}
