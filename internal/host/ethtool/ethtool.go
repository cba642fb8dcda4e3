package ethtool

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// Port is what the kernel says of an interface.
type Port struct {
	Link     Link
	Rings    Rings
	Queues   Queues
	Coalesce Coalesce
	// Offloads are those of interest that are on, by ethtool's names (ethtool -k).
	Offloads []string
	// ReceivesPause and SendsPause say whether it obeys and sends pause frames.
	ReceivesPause, SendsPause bool
	// ErrorCorrection is the forward error correction in use, such as "RS", "BASER" or "Off".
	ErrorCorrection string
	// HasClock says that the card has a clock of its own (PTP), which is /dev/ptpClock.
	HasClock bool
	Clock    int
}

// Link is the port's link. SpeedMbps is 0 without a link.
type Link struct {
	SpeedMbps       int64
	HalfDuplex      bool
	Autonegotiation bool
	// PartnerNegotiates says that the far end's offer is known.
	PartnerNegotiates bool
	// Medium is what the cable goes into: "twisted pair", "fibre", "direct attach copper" or "".
	Medium string
}

// Rings are how many frames wait in the card's memory, of how many at most.
type Rings struct{ Receive, MostReceive, Send, MostSend int }

// Queues are those in use, of how many at most. Combined ones count on both sides.
type Queues struct{ Receive, MostReceive, Send, MostSend int }

// Coalesce is for how long, and for how many frames, the card waits before it interrupts a processor.
type Coalesce struct {
	// Known is false for a driver that doesn't say.
	Known                                bool
	ReceiveMicroseconds, ReceiveFrames   int
	AdaptiveReceive                      bool
	TransmitMicroseconds, TransmitFrames int
}

// Commands and attributes of the family "ethtool" (include/uapi/linux/ethtool_netlink.h). Each command's first
// attribute is the request's header.
const (
	linkInfoGet, linkInfoPort                                              = 2, 2
	linkModesGet, linkModesNegotiation, linkModesPeer                      = 4, 2, 4
	linkStateGet                                                           = 6
	linkModesSpeed, linkModesDuplex                                        = 5, 6
	featuresGet, featuresActive                                            = 11, 4
	ringsGet, ringsMostReceive, ringsMostSend, ringsReceive, ringsSend     = 15, 2, 5, 6, 9
	channelsGet, channelsMostReceive, channelsMostSend, channelsMostBoth   = 17, 2, 3, 5
	channelsReceive, channelsSend, channelsBoth                            = 6, 7, 9
	coalesceGet, coalesceReceiveTime, coalesceReceiveFrames                = 19, 2, 3
	coalesceSendTime, coalesceSendFrames, coalesceAdaptive                 = 6, 7, 11
	pauseGet, pauseReceive, pauseSend                                      = 21, 3, 4
	timeStampGet, timeStampClock                                           = 25, 5
	errorCorrectionGet, errorCorrectionActive                              = 29, 4
	flowHashGet, flowHashTable, flowHashKey                                = 38, 4, 5
	eepromGet, eepromOffset, eepromLength, eepromPage, eepromBus, eepromIs = 31, 2, 3, 4, 6, 7
)

// The indexes of link modes that name an error correction (ETHTOOL_LINK_MODE_FEC_…).
var errorCorrections = map[uint32]string{49: "Off", 50: "RS", 51: "BASER", 74: "LLRS"}

// offloads are those that change what frames a receiver sees, or who works for them.
var offloads = []string{"rx-gro", "rx-gro-hw", "rx-lro", "rx-gro-list", "rx-udp-gro-forwarding", "rx-checksum",
	"rx-hashing",
	"rx-ntuple-filter", "rx-vlan-hw-parse", "rx-vlan-filter", "tx-checksum-ip-generic", "tx-checksum-ipv4",
	"tx-checksum-ipv6", "tx-generic-segmentation", "tx-tcp-segmentation", "tx-udp-segmentation", "tx-vlan-hw-insert",
	"highdma"}

// asker asks about one interface.
type asker struct {
	family uint16
	name   string
}

func newAsker(name string) (asker, error) {
	family, err := netlink.GenlFamilyGet("ethtool")
	if err != nil {
		return asker{}, fmt.Errorf("ask the kernel for ethtool's netlink (Linux 5.6): %w", err)
	}
	return asker{family.ID, name}, nil
}

// Ask asks the kernel about an interface.
func Ask(name string) (Port, error) {
	a, err := newAsker(name)
	if err != nil {
		return Port{}, err
	}
	if _, err := a.try(linkStateGet); errors.Is(err, unix.ENODEV) {
		return Port{}, fmt.Errorf("ask about %s: %w", name, err)
	}
	modes := a.get(linkModesGet)
	p := Port{Link: Link{SpeedMbps: speed(modes.number(linkModesSpeed)), HalfDuplex: modes.has(linkModesDuplex) &&
		modes.number(linkModesDuplex) == 0, Autonegotiation: modes.number(linkModesNegotiation) == 1,
		PartnerNegotiates: modes.has(linkModesPeer)}}
	if info := a.get(linkInfoGet); info.has(linkInfoPort) {
		p.Link.Medium = map[uint32]string{0: "twisted pair", 3: "fibre",
			5: "direct attach copper"}[info.number(linkInfoPort)]
	}
	r := a.get(ringsGet)
	p.Rings = Rings{r.count(ringsReceive), r.count(ringsMostReceive), r.count(ringsSend), r.count(ringsMostSend)}
	c := a.get(channelsGet)
	both, mostBoth := c.count(channelsBoth), c.count(channelsMostBoth)
	p.Queues = Queues{c.count(channelsReceive) + both, c.count(channelsMostReceive) + mostBoth,
		c.count(channelsSend) + both, c.count(channelsMostSend) + mostBoth}
	w := a.get(coalesceGet)
	p.Coalesce = Coalesce{Known: w.has(coalesceReceiveTime) || w.has(coalesceReceiveFrames) || w.has(coalesceAdaptive),
		ReceiveMicroseconds: w.count(coalesceReceiveTime), ReceiveFrames: w.count(coalesceReceiveFrames),
		AdaptiveReceive: w.number(coalesceAdaptive) == 1, TransmitMicroseconds: w.count(coalesceSendTime),
		TransmitFrames: w.count(coalesceSendFrames)}
	pause := a.get(pauseGet)
	p.ReceivesPause, p.SendsPause = pause.number(pauseReceive) == 1, pause.number(pauseSend) == 1
	if clock := a.get(timeStampGet); clock.has(timeStampClock) {
		p.HasClock, p.Clock = true, clock.count(timeStampClock)
	}
	if f := a.get(errorCorrectionGet); f.has(errorCorrectionActive) {
		p.ErrorCorrection = errorCorrections[f.number(errorCorrectionActive)]
	}
	for _, name := range a.get(featuresGet).bits(featuresActive) {
		if slices.Contains(offloads, name) {
			p.Offloads = append(p.Offloads, name)
		}
	}
	return p, nil
}

// FlowHash is a card's indirection table, which has the queue of each hash, and its key in hexadecimal (receive side
// scaling). Both are empty for a driver without them.
func FlowHash(name string) (table []uint32, key string) {
	a, err := newAsker(name)
	if err != nil {
		return nil, ""
	}
	answered := a.get(flowHashGet)
	for entry := range slices.Chunk(answered[flowHashTable], 4) {
		if len(entry) == 4 {
			table = append(table, binary.NativeEndian.Uint32(entry))
		}
	}
	return table, hex.EncodeToString(answered[flowHashKey])
}

// speed is 0 where the driver knows none.
func speed(megabits uint32) int64 {
	if megabits == math.MaxUint32 {
		return 0
	}
	return int64(megabits)
}

// answer holds the attributes of an answer, by their types. It is empty where the driver doesn't know the command.
type answer map[uint16][]byte

// head is struct genlmsghdr, with the reserved bytes zero.
type head [4]byte

func (h head) Len() int { return len(h) }

func (h head) Serialize() []byte { return h[:] }

func (a asker) get(command uint8) answer {
	answered, err := a.try(command)
	if err != nil {
		return nil
	}
	return answered
}

func (a asker) try(command uint8, arguments ...*nl.RtAttr) (answer, error) {
	request := nl.NewNetlinkRequest(int(a.family), unix.NLM_F_ACK)
	request.AddData(head{command, 1})
	header := nl.NewRtAttr(1|unix.NLA_F_NESTED, nil)
	header.AddRtAttr(2 /* ETHTOOL_A_HEADER_DEV_NAME */, nl.ZeroTerminated(a.name))
	request.AddData(header)
	for _, argument := range arguments {
		request.AddData(argument)
	}
	messages, err := request.Execute(unix.NETLINK_GENERIC, 0)
	if err != nil {
		return nil, err
	}
	if len(messages) == 0 || len(messages[0]) < len(head{}) {
		return nil, unix.ENODATA
	}
	return attributes(messages[0][len(head{}):]), nil
}

// attributes reads attributes. What is cut off reads as missing.
func attributes(b []byte) answer {
	parsed, err := nl.ParseRouteAttr(b)
	if err != nil {
		return nil
	}
	found := answer{}
	for _, p := range parsed {
		found[p.Attr.Type&nl.NLA_TYPE_MASK] = p.Value
	}
	return found
}

func (a answer) has(attribute uint16) bool { _, found := a[attribute]; return found }

// number is an attribute of one or four bytes, 0 where the answer has none.
func (a answer) number(attribute uint16) uint32 {
	switch value := a[attribute]; {
	case len(value) >= 4:
		return binary.NativeEndian.Uint32(value)
	case len(value) >= 1:
		return uint32(value[0])
	}
	return 0
}

func (a answer) count(attribute uint16) int { return int(min(a.number(attribute), math.MaxInt32)) }

// bits are the names in a bit set without a mask, which lists the bits that are set.
func (a answer) bits(attribute uint16) (names []string) {
	list, err := nl.ParseRouteAttr(attributes(a[attribute])[3 /* ETHTOOL_A_BITSET_BITS */])
	if err != nil {
		return nil
	}
	for _, bit := range list {
		if name := attributes(bit.Value)[2 /* ETHTOOL_A_BITSET_BIT_NAME */]; len(name) > 0 {
			names = append(names, unix.ByteSliceToString(name))
		}
	}
	return names
}
