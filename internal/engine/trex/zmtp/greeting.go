package zmtp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/linerate-dev/linerate/internal/host/credential"
)

// greetingSize is the fixed size of ZMTP 3's greeting: signature 10, version 2, mechanism 20, as-server 1, filler 31.
const greetingSize = 64

// maxCommand bounds a command's bytes.
const maxCommand = 4096

func greeting() []byte {
	g := make([]byte, greetingSize)
	g[0], g[9] = 0xff, 0x7f
	g[10], g[11] = 3, 1
	copy(g[12:32], "NULL")
	return g
}

// checkGreeting accepts any ZMTP 3 peer with the NULL mechanism.
func checkGreeting(g []byte) error {
	mechanism := strings.TrimRight(string(g[12:32]), "\x00")
	switch {
	case g[0] != 0xff || g[9]&1 == 0:
		return errors.New("the peer doesn't speak ZeroMQ")
	case g[10] < 3:
		return fmt.Errorf("the peer speaks ZMTP %d: ZMTP 3 is needed", g[10])
	case mechanism != "NULL":
		return fmt.Errorf("the peer wants the security mechanism %q: only NULL is supported", mechanism)
	}
	return nil
}

// readGreeting reads the signature first, as a peer that doesn't speak ZeroMQ may never send 64 bytes.
func readGreeting(r io.Reader) error {
	g := make([]byte, greetingSize)
	if _, err := io.ReadFull(r, g[:1]); err != nil {
		return err
	}
	switch g[0] {
	case 0xff:
	case credential.First:
		return credential.ErrAsked
	default:
		return errors.New("the peer doesn't speak ZeroMQ")
	}
	if _, err := io.ReadFull(r, g[1:]); err != nil {
		return unexpected(err)
	}
	return checkGreeting(g)
}

// command encodes a command frame's body, its name and then its data.
func command(name string, data []byte) []byte {
	b := append([]byte{byte(len(name))}, name...)
	return append(b, data...)
}

// parseCommand splits a command frame's body.
func parseCommand(body []byte) (name string, data []byte, err error) {
	if len(body) == 0 || len(body) < 1+int(body[0]) {
		return "", nil, errors.New("malformed command")
	}
	n := 1 + int(body[0])
	return string(body[1:n]), body[n:], nil
}

func ready(socketType string) []byte {
	var b []byte
	b = appendProperty(b, "Socket-Type", socketType)
	if socketType == socketREQ {
		b = appendProperty(b, "Identity", "")
	}
	return command("READY", b)
}

func appendProperty(b []byte, name, value string) []byte {
	b = append(b, byte(len(name)))
	b = append(b, name...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(value)))
	return append(b, value...)
}

// parseProperties reads READY's metadata. Names are case-insensitive and come back in lower case.
func parseProperties(b []byte) (map[string]string, error) {
	properties := map[string]string{}
	for r := bytes.NewBuffer(b); r.Len() > 0; {
		name := r.Next(int(r.Next(1)[0]))
		size := r.Next(4)
		if len(size) < 4 || len(name) == 0 {
			return nil, errors.New("malformed READY")
		}
		n := binary.BigEndian.Uint32(size)
		if uint64(n) > uint64(r.Len()) {
			return nil, errors.New("malformed READY")
		}
		properties[strings.ToLower(string(name))] = string(r.Next(int(n)))
	}
	return properties, nil
}

// checkReady judges the peer's first command.
func checkReady(body []byte, want []string) error {
	name, data, err := parseCommand(body)
	if err != nil {
		return err
	}
	if name == "ERROR" {
		return fmt.Errorf("the peer refused: %q", strings.TrimLeft(string(data),
			"\x00\x01\x02\x03\x04\x05\x06\x07\x08\x0b\x0c\x0e\x0f"))
	}
	if name != "READY" {
		return fmt.Errorf("the peer sent %q where READY was due", name)
	}
	properties, err := parseProperties(data)
	if err != nil {
		return err
	}
	for _, w := range want {
		if properties["socket-type"] == w {
			return nil
		}
	}
	return fmt.Errorf("the peer is a %q socket: %s is needed", properties["socket-type"], strings.Join(want, " or "))
}
