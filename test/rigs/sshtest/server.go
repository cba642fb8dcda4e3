package sshtest

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"net"
	"os/exec"
	"sync/atomic"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// Password is the one that a Server takes.
const Password = "right"

// Server runs the commands that it is sent by a shell, for any user who has the key or the password.
type Server struct {
	Address    string
	Key        ssh.Signer // the server's own
	ClientKey  string     // in PEM
	Handshakes atomic.Int64
}

// NewKey is a key, and the same in PEM.
func NewKey(t *testing.T) (ssh.Signer, string) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	return signer, string(pem.EncodeToMemory(block))
}

// NewServer serves until the test ends.
func NewServer(t *testing.T) *Server {
	t.Helper()
	s := &Server{}
	s.Key, _ = NewKey(t)
	client, text := NewKey(t)
	s.ClientKey = text
	config := &ssh.ServerConfig{
		PublicKeyCallback: func(_ ssh.ConnMetadata, shown ssh.PublicKey) (*ssh.Permissions, error) {
			if string(shown.Marshal()) != string(client.PublicKey().Marshal()) {
				return nil, fmt.Errorf("another key")
			}
			return nil, nil
		},
		PasswordCallback: func(_ ssh.ConnMetadata, shown []byte) (*ssh.Permissions, error) {
			if string(shown) != Password {
				return nil, fmt.Errorf("another password")
			}
			return nil, nil
		},
	}
	config.AddHostKey(s.Key)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	s.Address = l.Addr().String()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(conn, config)
		}
	}()
	return s
}

// KnownHost is the server's line in a file known_hosts.
func (s *Server) KnownHost() string {
	return knownhosts.Line([]string{s.Address}, s.Key.PublicKey()) + "\n"
}

func (s *Server) serve(conn net.Conn, config *ssh.ServerConfig) {
	defer func() { _ = conn.Close() }()
	_, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	s.Handshakes.Add(1)
	go ssh.DiscardRequests(requests)
	for made := range channels {
		channel, requests, err := made.Accept()
		if err != nil {
			return
		}
		go answer(channel, requests)
	}
}

// answer runs the first command.
func answer(channel ssh.Channel, requests <-chan *ssh.Request) {
	defer func() { _ = channel.Close() }()
	for r := range requests {
		var asked struct{ Command string }
		if r.Type != "exec" || ssh.Unmarshal(r.Payload, &asked) != nil {
			_ = r.Reply(false, nil)
			continue
		}
		_ = r.Reply(true, nil)
		run := exec.Command("sh", "-c", asked.Command)
		run.Stdout, run.Stderr = channel, channel.Stderr()
		code := struct{ Code uint32 }{}
		if err := run.Run(); err != nil {
			code.Code = uint32(run.ProcessState.ExitCode())
		}
		_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(code))
		return
	}
}
