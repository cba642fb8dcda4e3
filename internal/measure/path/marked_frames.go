package path

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/engine/trex/neighbor"
)

// MostProbes is how many frames of a generator and direction are worth sending where all have the same MACs and TTL.
const MostProbes = 8

// MostKinds is how many kinds, by MACs and TTL, a generator's frames in a direction may have. One frame of each
// kind is sent.
const MostKinds = 64

// tokenLength is enough for a token never to occur by chance. A token is a magic word, the run's seed and the
// frame's number.
const tokenLength = 16

// magic begins every token.
const magic = "LRPC"

// Token marks one frame of one run. It is carried in the payload and survives forwarding.
type Token [tokenLength]byte

// NewToken is the token of frame number n in the run with this seed.
func NewToken(seed uint64, n uint32) Token {
	t := Token{}
	copy(t[:], magic)
	binary.BigEndian.PutUint64(t[4:], seed)
	binary.BigEndian.PutUint32(t[12:], n)
	return t
}

// Lane is a direction as one replica takes part in it, with its two ports and the MACs on the way.
type Lane struct {
	Generator      string     // that sends
	Receiver       string     // the receiving generator, which may be the same or on another machine
	Link           string     // from which it sends
	Send, Receive  int        // port indexes
	SenderMAC      engine.MAC // of the sending port
	NextHopMAC     engine.MAC // where frames are addressed
	ReceiverMAC    engine.MAC // of the receiving port
	DeviceMACAtEnd engine.MAC // the device's MAC on the receiving link, or "" where it is unknown
	// OtherMACsAtEnd are further MACs from which the device may send on the receiving link.
	OtherMACsAtEnd []engine.MAC
	// OwnDestinations are the destination MACs that streams keep for themselves, with the first stream's place in
	// the list.
	OwnDestinations map[engine.MAC]int
	// VLANAtEnd is the tag of frames on the receiving link, or 0 for untagged.
	VLANAtEnd uint16
	// Translations are as what flows arrive, as far as that was learned. Answers says that the lane's frames answer
	// what arrived in the other direction.
	Translations map[Flow]Flow
	Answers      bool
}

// Probe is one marked frame, without FCS, on its lane.
type Probe struct {
	Lane  Lane
	Token Token
	Frame []byte
}

// Probes marks up to MostKinds templates (frames without FCS, as the lane's streams send them, MACs and all) for
// the lane, numbered from first.
func Probes(lane Lane, templates [][]byte, seed uint64, first uint32) ([]Probe, error) {
	var probes []Probe
	for i, template := range templates[:min(len(templates), MostKinds)] {
		p := Probe{Lane: lane, Token: NewToken(seed, first+uint32(i))}
		frame, err := mark(template, p.Token)
		if err != nil {
			return nil, fmt.Errorf("mark frame %d of generator %s: %w", i+1, lane.Generator, err)
		}
		p.Frame = frame
		probes = append(probes, p)
	}
	return probes, nil
}

// Addressed is a template with the lane's MACs where the stream leaves them to the port.
func (l Lane) Addressed(template []byte, ownSource, ownDestination bool) ([]byte, error) {
	frame := slices.Clone(template)
	if len(frame) < 12 {
		return nil, errNoIP
	}
	if !ownDestination {
		destination, err := octets(l.NextHopMAC)
		if err != nil {
			return nil, fmt.Errorf("next hop: %w", err)
		}
		copy(frame, destination)
	}
	if !ownSource {
		source, err := octets(l.SenderMAC)
		if err != nil {
			return nil, fmt.Errorf("port %d: %w", l.Send, err)
		}
		copy(frame[6:], source)
	}
	return frame, nil
}

// Kinds are the templates that differ from those before them in MACs or TTL, first one of each kind, then the
// others, as many as are worth sending.
func Kinds(templates [][]byte) [][]byte {
	type kind struct {
		macs string
		ttl  byte
	}
	arrivals := map[kind]bool{}
	var kinds, rest [][]byte
	for _, frame := range templates {
		l, err := layersOf(frame)
		if err != nil {
			kinds = append(kinds, frame) // mark says why it can't be sent
			continue
		}
		k := kind{string(frame[:12]), frame[l.ttlOffset()]}
		if arrivals[k] {
			rest = append(rest, frame)
			continue
		}
		arrivals[k] = true
		kinds = append(kinds, frame)
	}
	return append(kinds, rest[:min(len(rest), max(0, MostProbes-len(kinds)))]...)
}

// mark writes a token over the beginning of a copy of the template's payload. All headers stay as they are. Only
// lengths grow where there is too little payload, and checksums follow the payload, so that a checksum that was
// wrong or left out stays so.
func mark(template []byte, token Token) ([]byte, error) {
	nested := nest(template)
	if len(nested) == 0 {
		return nil, errNoIP
	}
	errs := make([]sumErrors, len(nested))
	for i, l := range nested {
		errs[i] = l.errors(template)
	}
	frame := slices.Clone(template)
	inner := nested[len(nested)-1]
	if grown := tokenLength - (inner.end - inner.payload); grown > 0 {
		frame = append(frame[:inner.end:inner.end], make([]byte, grown)...)
		for i := range nested {
			nested[i].end += grown
			nested[i].grow(frame, grown)
		}
	}
	copy(frame[inner.payload:], token[:])
	for i, l := range slices.Backward(nested) {
		l.keepErrors(frame, errs[i])
	}
	return pad(frame), nil
}

// Learning is a broadcast frame without FCS of the local experimental EtherType (IEEE 802) from this MAC. Bridges
// learn from it where the port is, and nobody answers. With a VLAN it has that tag, since bridges keep what they
// learn of each apart. VLAN 0 makes it untagged.
func Learning(source engine.MAC, vlan uint16) ([]byte, error) {
	mac, err := octets(source)
	if err != nil {
		return nil, err
	}
	frame := slices.Concat([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, mac)
	if vlan != 0 {
		frame = binary.BigEndian.AppendUint16(append(frame, 0x81, 0x00), vlan)
	}
	return pad(append(frame, 0x88, 0xb5)), nil
}

// LearningOfRouter are frames without FCS by which a port asks a router for its addresses on their link, from an
// address of its own of the same family. The router learns from an ARP request, or a neighbour solicitation, where
// the port is. There are none where one of the two has no address.
func LearningOfRouter(source engine.MAC, vlan uint16, networks, routers []netip.Prefix) (frames [][]byte, err error) {
	mac, err := octets(source)
	if err != nil {
		return nil, err
	}
	for _, a := range networks {
		for _, hop := range routers {
			if a.Addr().Is4() != hop.Addr().Is4() {
				continue
			}
			frame, err := neighbor.Query{SourceMAC: mac, Source: a.Addr(), Target: hop.Addr(), VLAN: vlan}.Frame()
			if err != nil {
				return nil, fmt.Errorf("ask for %s: %w", hop.Addr(), err)
			}
			frames = append(frames, pad(frame))
		}
	}
	return frames, nil
}

// pad brings a frame to Ethernet's least size without FCS.
func pad(frame []byte) []byte {
	const minFrame = 60
	if len(frame) >= minFrame {
		return frame
	}
	return append(frame, make([]byte, minFrame-len(frame))...)
}

// tokenOf finds the token that a captured frame carries.
func tokenOf(captured []byte) (token Token, ok bool) {
	offset := bytes.Index(captured, []byte(magic))
	if offset < 0 || len(captured) < offset+tokenLength {
		return Token{}, false
	}
	return Token(captured[offset:]), true
}

// carries says that the captured bytes hold the token.
func carries(captured []byte, token Token) bool { return bytes.Contains(captured, token[:]) }

// macs are the frame's addresses.
func macs(frame []byte) (destination, source engine.MAC) {
	if len(frame) < 12 {
		return "", ""
	}
	return notation(frame[0:6]), notation(frame[6:12])
}

// octets reads the usual notation, 02:00:00:00:00:01.
func octets(mac engine.MAC) ([]byte, error) {
	b, err := hex.DecodeString(strings.ReplaceAll(string(mac), ":", ""))
	if err != nil || len(b) != 6 {
		return nil, fmt.Errorf("%q is no Ethernet address", mac)
	}
	return b, nil
}

func notation(b []byte) engine.MAC {
	var s []string
	for _, octet := range b {
		s = append(s, hex.EncodeToString([]byte{octet}))
	}
	return engine.MAC(strings.Join(s, ":"))
}

// Tokens are all tokens that frames carry.
func Tokens(arrivals []Arrival) map[Token]bool {
	tokens := map[Token]bool{}
	for _, a := range arrivals {
		if token, ok := tokenOf(a.Bytes); ok {
			tokens[token] = true
		}
	}
	return tokens
}

// Marked counts the frames that carry any token, duplicates and strays included.
func Marked(arrivals []Arrival) int {
	n := 0
	for _, s := range arrivals {
		if _, ok := tokenOf(s.Bytes); ok {
			n++
		}
	}
	return n
}
