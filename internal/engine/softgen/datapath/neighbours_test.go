package datapath

import (
	"encoding/hex"
	"net/netip"
	"strings"
	"testing"
)

var (
	ours   = [6]byte{2, 0, 0, 0, 0, 1}
	theirs = [6]byte{2, 0, 0, 0, 0, 2}
)

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	noError(t, err)
	return b
}

func TestAnswers(t *testing.T) {
	local := []netip.Addr{netip.MustParseAddr("198.18.0.2"), netip.MustParseAddr("2001:2::2")}
	asker := &neighbours{mac: theirs}
	tagged := &neighbours{mac: theirs, vlan: 7}
	ask := func(n *neighbours, target string) []byte {
		return n.arp(arpRequest, broadcast, netip.MustParseAddr("198.18.0.1"), netip.MustParseAddr(target))
	}
	solicit := func(target string) []byte {
		f := asker.advertise([6]byte{0x33, 0x33, 0xff, 0, 0, 2}, netip.MustParseAddr(target),
			netip.MustParseAddr("ff02::1:ff00:2"), 0)
		f[54] = neighbourSolicitation
		source := netip.MustParseAddr("2001:2::1").As16()
		copy(f[22:], source[:])
		return f
	}
	for _, c := range []struct {
		name      string
		addresses neighbours
		frame     []byte
		want      string // the start of the reply in hexadecimal; empty: no reply
	}{
		{"ARP for our address", neighbours{mac: ours, local: local}, ask(asker, "198.18.0.2"),
			"020000000002 020000000001 0806 0001 0800 06 04 0002 020000000001 c6120002 020000000002 c6120001"},
		{"ARP for another address", neighbours{mac: ours, local: local}, ask(asker, "198.18.0.3"), ""},
		{"ARP in our VLAN", neighbours{mac: ours, local: local, vlan: 7}, ask(tagged, "198.18.0.2"),
			"020000000002 020000000001 8100 0007 0806 0001 0800 06 04 0002 020000000001 c6120002 " +
				"020000000002 c6120001"},
		{"ARP in another VLAN", neighbours{mac: ours, local: local}, ask(tagged, "198.18.0.2"), ""},
		{"a neighbour solicitation", neighbours{mac: ours, local: local}, solicit("2001:2::2"),
			"020000000002 020000000001 86dd 60000000 0020 3a ff " +
				"20010002000000000000000000000002 20010002000000000000000000000001 88 00"},
		{"a solicitation for another address", neighbours{mac: ours, local: local}, solicit("2001:2::3"), ""},
		{"an ARP reply", neighbours{mac: ours, local: local}, asker.arp(arpReply, ours, local[0], local[0]), ""},
		{"what isn't a question", neighbours{mac: ours, local: local}, frame(60), ""},
		{"half a frame", neighbours{mac: ours, local: local}, ask(asker, "198.18.0.2")[:20], ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.addresses.reply(c.frame)
			if want := unhex(t, c.want); (len(want) == 0) != (got == nil) ||
				!strings.HasPrefix(string(got), string(want)) {
				t.Errorf("answered % x, want % x", got, want)
			}
			if got != nil && len(got) < 60 {
				t.Errorf("an answer of %d bytes", len(got))
			}
		})
	}
	t.Run("announcements carry every address to all nodes", func(t *testing.T) {
		n := &neighbours{mac: ours, local: local}
		announced := n.announcements()
		if len(announced) != 2 || [6]byte(announced[0][:6]) != broadcast || announced[1][0] != 0x33 ||
			announced[1][54] != neighbourAdvertised {
			t.Errorf("% x", announced)
		}
	})
}

func FuzzReply(f *testing.F) {
	n := &neighbours{mac: ours, local: []netip.Addr{netip.MustParseAddr("198.18.0.2"),
		netip.MustParseAddr("2001:2::2")}}
	asker := &neighbours{mac: theirs}
	f.Add(asker.arp(arpRequest, broadcast, n.local[0], n.local[0]))
	f.Add(asker.advertise(broadcast, n.local[1], n.local[1], 0))
	f.Fuzz(func(t *testing.T, b []byte) {
		if reply := n.reply(b); reply != nil && len(reply) < 60 {
			t.Errorf("an answer of %d bytes", len(reply))
		}
	})
}
