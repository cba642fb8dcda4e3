package neighbor_test

import (
	"encoding/base64"
	"encoding/hex"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/engine/trex/neighbor"
)

func mac(t testing.TB, s string) net.HardwareAddr {
	t.Helper()
	m, err := net.ParseMAC(s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func query(t testing.TB, source, target string, vlan uint16) neighbor.Query {
	return neighbor.Query{SourceMAC: mac(t, "02:00:00:00:00:10"), Source: netip.MustParseAddr(source),
		Target: netip.MustParseAddr(target), VLAN: vlan}
}

func fromHex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// What TRex's own client sent, and a Linux kernel answered.
const (
	recordedRequest = "////////AgAAAAAQCAYAAQgABgQAAQIAAAAAEMYSAAIAAAAAAADGEgAB"
	recordedReply   = "AgAAAAAQAgAAAAAgCAYAAQgABgQAAgIAAAAAIMYSAAECAAAAABDGEgAC"
)

func TestARP(t *testing.T) {
	q := query(t, "198.18.0.2", "198.18.0.1", 0)
	t.Run("the request is the one that TRex's client sends", func(t *testing.T) {
		frame, err := q.Frame()
		if err != nil || base64.StdEncoding.EncodeToString(frame) != recordedRequest {
			t.Errorf("frame % x, %v", frame, err)
		}
	})
	reply, err := base64.StdEncoding.DecodeString(recordedReply)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("a recorded reply is understood", func(t *testing.T) {
		got, ok := q.Answer(reply)
		if !ok || got.String() != "02:00:00:00:00:20" {
			t.Errorf("got %v, %v", got, ok)
		}
	})
	t.Run("a tagged network takes tagged answers only", func(t *testing.T) {
		tagged := append(append(append([]byte{}, reply[:12]...), 0x81, 0x00, 0xa0, 0x64), reply[12:]...)
		on100 := query(t, "198.18.0.2", "198.18.0.1", 100)
		if got, ok := on100.Answer(tagged); !ok || got.String() != "02:00:00:00:00:20" {
			t.Errorf("the tagged reply gave %v, %v", got, ok)
		}
		if _, ok := on100.Answer(reply); ok {
			t.Error("an untagged reply was taken for VLAN 100")
		}
		if _, ok := q.Answer(tagged); ok {
			t.Error("a tagged reply was taken for the untagged network")
		}
	})
	refused := map[string]func(b []byte){
		"of somebody else's address":  func(b []byte) { b[31] = 9 },
		"that names a group as owner": func(b []byte) { b[22] = 1 },
		"that names nobody":           func(b []byte) { clear(b[22:28]) },
		"for another protocol":        func(b []byte) { b[16] = 9 },
		"of an unknown operation":     func(b []byte) { b[21] = 9 },
	}
	for name, change := range refused {
		t.Run("no answer is one "+name, func(t *testing.T) {
			b := append([]byte{}, reply...)
			change(b)
			if got, ok := q.Answer(b); ok {
				t.Errorf("got %v", got)
			}
		})
	}
}

// A solicitation as a Linux kernel sends it for these addresses, and its answer.
const (
	solicitation = "3333ff000001 020000000010 86dd 60000000 0020 3a ff 20010002000000000000000000000002 " +
		"ff0200000000000000000001ff000001 8700"
	advertisement = "020000000010 020000000020 86dd 60000000 0020 3a ff 20010002000000000000000000000001 " +
		"20010002000000000000000000000002 8800 CCCC 60000000 20010002000000000000000000000001 0201 020000000020"
)

func TestNeighborDiscovery(t *testing.T) {
	q := query(t, "2001:2::2", "2001:2::1", 0)
	frame, err := q.Frame()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("the solicitation goes to the solicited-node group with our MAC inside", func(t *testing.T) {
		want := fromHex(t, solicitation)
		if string(frame[:len(want)]) != string(want) ||
			string(frame[len(frame)-8:]) != "\x01\x01\x02\x00\x00\x00\x00\x10" || len(frame) != 86 {
			t.Errorf("frame % x", frame)
		}
		if sum(frame) != 0xffff {
			t.Errorf("checksum is wrong: %04x", sum(frame))
		}
	})
	t.Run("an advertisement of ours goes to the target and claims to be an answer", func(t *testing.T) {
		want := seal(fromHex(t, "020000000020 020000000010 86dd 60000000 0020 3a ff "+
			"20010002000000000000000000000002 20010002000000000000000000000001"+
			"8800 0000 60000000 20010002000000000000000000000002 0201 020000000010"))
		got, err := q.Advertisement(mac(t, "02:00:00:00:00:20"))
		if err != nil || string(got) != string(want) {
			t.Errorf("got % x, %v, want % x", got, err, want)
		}
	})
	t.Run("there is none of IPv4 addresses, nor to a group", func(t *testing.T) {
		if _, err := query(t, "198.18.0.2", "198.18.0.1", 0).Advertisement(mac(t, "02:00:00:00:00:20")); err == nil {
			t.Error("IPv4 was advertised")
		}
		if _, err := q.Advertisement(mac(t, "33:33:00:00:00:01")); err == nil {
			t.Error("it went to a group")
		}
	})
	good := seal(fromHex(t, strings.Replace(advertisement, "CCCC", "0000", 1)))
	t.Run("an advertisement is understood", func(t *testing.T) {
		if got, ok := q.Answer(good); !ok || got.String() != "02:00:00:00:00:20" {
			t.Errorf("got %v, %v", got, ok)
		}
	})
	t.Run("one without the option speaks by its source", func(t *testing.T) {
		bare := append([]byte{}, good[:len(good)-8]...)
		bare[19], bare[6] = 24, 0x06
		if got, ok := q.Answer(seal(bare)); !ok || got.String() != "06:00:00:00:00:20" {
			t.Errorf("got %v, %v", got, ok)
		}
	})
	refused := map[string]func(b []byte) []byte{
		"from beyond the link":        func(b []byte) []byte { b[21] = 64; return seal(b) },
		"with a wrong checksum":       func(b []byte) []byte { b[56] ^= 1; return b },
		"for another target":          func(b []byte) []byte { b[77] = 9; return seal(b) },
		"that is a solicitation":      func(b []byte) []byte { b[54] = 135; return seal(b) },
		"with an option of no length": func(b []byte) []byte { b[79] = 0; return seal(b) },
		"cut off":                     func(b []byte) []byte { return b[:len(b)-3] },
	}
	for name, change := range refused {
		t.Run("no answer is one "+name, func(t *testing.T) {
			if got, ok := q.Answer(change(append([]byte{}, good...))); ok {
				t.Errorf("got %v", got)
			}
		})
	}
}

// sum adds up the pseudo-header and message of an untagged ICMPv6 frame. The sum is 0xffff if the frame's checksum is
// right.
func sum(frame []byte) uint16 {
	message := frame[54:]
	total := uint32(len(message)) + 58
	for i, v := range append(append([]byte{}, frame[22:54]...), message...) {
		if i%2 == 0 {
			total += uint32(v) << 8
		} else {
			total += uint32(v)
		}
	}
	for total > 0xffff {
		total = total>>16 + total&0xffff
	}
	return uint16(total)
}

func seal(frame []byte) []byte {
	frame[56], frame[57] = 0, 0
	c := ^sum(frame)
	frame[56], frame[57] = byte(c>>8), byte(c)
	return frame
}

func TestQueriesThatCannotBeAsked(t *testing.T) {
	good := query(t, "198.18.0.2", "198.18.0.1", 0)
	cases := map[string]func(q *neighbor.Query){
		"six bytes are needed":        func(q *neighbor.Query) { q.SourceMAC = nil },
		"a source and a target":       func(q *neighbor.Query) { q.Source = netip.Addr{} },
		"one is IPv4, the other IPv6": func(q *neighbor.Query) { q.Target = netip.MustParseAddr("2001:2::1") },
	}
	for want, change := range cases {
		q := good
		change(&q)
		if _, err := q.Frame(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v says nothing of %q", err, want)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	reply, _ := base64.StdEncoding.DecodeString(recordedReply)
	f.Add(reply, false)
	f.Add(seal(fromHex(f, strings.Replace(advertisement, "CCCC", "0000", 1))), true)
	f.Fuzz(func(t *testing.T, frame []byte, six bool) {
		q := query(t, "198.18.0.2", "198.18.0.1", 0)
		if six {
			q = query(t, "2001:2::2", "2001:2::1", 0)
		}
		if got, ok := q.Answer(frame); ok && (len(got) != 6 || got[0]&1 != 0) {
			t.Errorf("%v is nobody's own address", got)
		}
	})
}

func TestAnARPReplyThatNobodyAskedForIsAnAnswer(t *testing.T) {
	q := query(t, "198.18.0.2", "198.18.0.1", 100)
	device := mac(t, "02:00:00:00:00:20")
	frame, err := q.Reply(device)
	if err != nil {
		t.Fatal(err)
	}
	asked := query(t, "198.18.0.1", "198.18.0.2", 100)
	if got, ok := asked.Answer(frame); !ok || got.String() != q.SourceMAC.String() || !slices.Equal(frame[:6], device) {
		t.Errorf("% x tells %v, %v", frame, got, ok)
	}
	if _, err := query(t, "2001:2::2", "2001:2::1", 0).Reply(device); err == nil {
		t.Error("ARP was made of IPv6 addresses")
	}
	if _, err := q.Reply(nil); err == nil {
		t.Error("ARP was sent to nobody")
	}
}
