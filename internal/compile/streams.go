package compile

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/trex/stream"
)

// checkStreams refuses streams that don't suit the place they are to be sent from: their frames say themselves where they go.
func (c *compiler) checkStreams() {
	if c.spec.Traffic.Streams == nil {
		return
	}
	traffic := specPath().Child("traffic")
	if c.replicas() > 1 {
		c.refuse(specPath().Child("generator", "replicas"), c.replicas(), "profile Streams can't be divided: every replica would send the same flows; use 1")
	}
	if c.forwarding() == plan.L3 && len(c.directions) > 1 {
		c.errs = append(c.errs, field.Invalid(traffic.Child("directions"), field.OmitValueType{},
			fmt.Sprintf("the same streams can't be routed both ways: choose one direction, such as [{from: %s, to: %s}]", c.directions[0].From, c.directions[0].To)))
	}
	if text := c.spec.Traffic.Streams.JSON; !json.Valid([]byte(text)) {
		c.errs = append(c.errs, field.Invalid(traffic.Child("streams", "json"), field.OmitValueType{}, explainJSON(text)))
	}
}

func explainJSON(text string) string {
	var v any
	err := json.Unmarshal([]byte(text), &v)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Sprintf("not JSON from byte %d on (%s): write a list of TRex stream objects", syntax.Offset, syntax)
	}
	return "not JSON: write a list of TRex stream objects"
}

// allowStreams refuses streams whose first frame comes from or goes to where it mustn't. What the field engine makes of later frames
// is its author's to answer for.
func (c *compiler) allowStreams(streams []stream.Stream) {
	path := specPath().Child("traffic", "streams", "json")
	for _, s := range streams {
		for _, a := range addressesOf(s.Packet.Binary) {
			c.allow(path, netip.PrefixFrom(a, a.BitLen()))
		}
	}
}

// addressesOf are a frame's IP source and destination; none of a frame that isn't IP.
func addressesOf(frame []byte) []netip.Addr {
	const etherIPv4, etherIPv6, etherVLAN, etherQinQ = 0x0800, 0x86dd, 0x8100, 0x88a8
	for at := 12; at+2 <= len(frame); at += 4 {
		ip := frame[at+2:]
		switch binary.BigEndian.Uint16(frame[at:]) {
		case etherVLAN, etherQinQ:
			continue
		case etherIPv4:
			return pair(ip, 12, 4)
		case etherIPv6:
			return pair(ip, 8, 16)
		default:
			return nil
		}
	}
	return nil
}

// pair reads two addresses of so many bytes, one after the other.
func pair(ip []byte, at, size int) []netip.Addr {
	if len(ip) < at+2*size {
		return nil
	}
	source, _ := netip.AddrFromSlice(ip[at : at+size])
	destination, _ := netip.AddrFromSlice(ip[at+size : at+2*size])
	return []netip.Addr{source, destination}
}
