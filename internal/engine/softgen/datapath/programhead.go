package datapath

import (
	"fmt"

	"github.com/cilium/ebpf/asm"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// transportTypeAt is the byte behind the IPv6 header, an ICMPv6 type mostly, in an untagged frame.
const transportTypeAt = 54

// Where a UDP destination port stands: in an untagged frame behind an IPv4 header without options, and in the UDP header.
const (
	udpPortAt4 = 36
	udpPort    = 2
	plainIPv4  = 0x45
	groupBit   = 1 // of a MAC's first byte
)

// readHead says what a frame is, as inspect does in Go: it brings the Ethernet header and the start of the IP header to the stack, past VLAN tags, and goes on at "mark" with a mark in R1, at "neighbour", at
// "stray", or at "rest".
func (h hook) readHead() asm.Instructions {
	return joined(h.passTags(), asm.Instructions{
		asm.JEq.Imm(kind, big(etherIPv4), "ipv4").WithSymbol("protocol"),
		asm.JEq.Imm(kind, big(etherIPv6), "ipv6"),
		asm.JEq.Imm(kind, big(etherARP), "neighbour"),
		asm.HostTo(asm.BE, kind, asm.Half),
	}, whereOne(kind, stream.LinkTypes(), "stray"), asm.Instructions{
		asm.JLT.Imm(kind, leastType, "stray"),
		asm.Ja.Label("to-whom"),

		asm.LoadMem(asm.R1, asm.RFP, head(15), asm.Byte).WithSymbol("ipv4"),
		asm.And.Imm(asm.R1, 1),
		asm.JEq.Imm(asm.R1, 0, "unmarked"),
		asm.LoadMem(asm.R1, asm.RFP, head(18), asm.Half),
		asm.HostTo(asm.BE, asm.R1, asm.Half),
		asm.JGE.Imm(asm.R1, markBase, "mark"),
		asm.LoadMem(asm.R1, asm.RFP, head(23), asm.Byte).WithSymbol("unmarked"),
	}, whereOne(asm.R1, stream.RouterProtocols(), "stray"), asm.Instructions{
		asm.JNE.Imm(asm.R1, protocolUDP, "to-whom"),
		asm.LoadMem(asm.R1, asm.RFP, head(14), asm.Byte),
		asm.JNE.Imm(asm.R1, plainIPv4, "to-whom"),
		asm.LoadMem(asm.R1, asm.RFP, head(22), asm.Byte),
		asm.JNE.Imm(asm.R1, stream.BFDTTL, "to-whom"),
		asm.LoadMem(asm.R2, asm.RFP, stackTransport, asm.Word),
		asm.Sub.Imm(asm.R2, transportTypeAt-udpPortAt4),
		asm.Ja.Label("port"),

		asm.LoadMem(asm.R1, asm.RFP, head(15), asm.Byte).WithSymbol("ipv6"),
		asm.And.Imm(asm.R1, 0x10),
		asm.JEq.Imm(asm.R1, 0, "unmarked6"),
		asm.LoadMem(asm.R1, asm.RFP, head(16), asm.Half),
		asm.HostTo(asm.BE, asm.R1, asm.Half),
		asm.JGE.Imm(asm.R1, markBase, "mark"),
	}, labelled("unmarked6", h.load(asm.LoadMem(asm.R2, asm.RFP, stackTransport, asm.Word), stackIndex, 1, "to-whom")), asm.Instructions{
		asm.LoadMem(asm.R1, asm.RFP, head(20), asm.Byte),
		asm.LoadMem(asm.R2, asm.RFP, stackIndex, asm.Byte),
		asm.JEq.Imm(asm.R1, icmpv6, "of-link"),
		asm.JEq.Imm(asm.R1, protocolUDP, "udp6"),
		asm.JNE.Imm(asm.R1, hopByHop, "routers6"),
		asm.JEq.Imm(asm.R2, icmpv6, "stray"),
		asm.Ja.Label("to-whom"),
	}, labelled("routers6", whereOne(asm.R1, stream.RouterProtocols(), "stray")), asm.Instructions{
		asm.Ja.Label("to-whom"),
		asm.JEq.Imm(asm.R2, neighbourSolicitation, "neighbour").WithSymbol("of-link"),
		asm.JEq.Imm(asm.R2, listenerReport, "stray"),
		asm.JLT.Imm(asm.R2, firstOfLink, "to-whom"),
		asm.JGT.Imm(asm.R2, lastOfLink, "to-whom"),
		asm.Ja.Label("stray"),
		asm.LoadMem(asm.R1, asm.RFP, head(21), asm.Byte).WithSymbol("udp6"),
		asm.JNE.Imm(asm.R1, stream.BFDTTL, "to-whom"),
		asm.LoadMem(asm.R2, asm.RFP, stackTransport, asm.Word),
		asm.Add.Imm(asm.R2, udpPort),
	}, labelled("port", h.load(asm.Mov.Reg(asm.R2, asm.R2), stackIndex, 2, "to-whom")), asm.Instructions{
		asm.LoadMem(asm.R1, asm.RFP, stackIndex, asm.Half),
		asm.HostTo(asm.BE, asm.R1, asm.Half),
	}, whereOne(asm.R1, stream.BFDPorts(), "stray"),
		labelled("to-whom", h.load(asm.Mov.Imm(asm.R2, 0), stackIndex, 1, "rest")), asm.Instructions{
			asm.LoadMem(asm.R1, asm.RFP, stackIndex, asm.Byte),
			asm.And.Imm(asm.R1, groupBit),
			asm.JNE.Imm(asm.R1, 0, "stray"),
			asm.Ja.Label("rest"),
		})
}

// whereOne goes on at the label if the register is one of the values.
func whereOne[V byte | uint16](r asm.Register, values []V, label string) (p asm.Instructions) {
	for _, v := range values {
		p = append(p, asm.JEq.Imm(r, int32(v), label))
	}
	return p
}

// passTags loads the head behind as many VLAN tags as stand there, and leaves the Ethernet type in R8.
func (h hook) passTags() (p asm.Instructions) {
	for tags := range int32(mostTags + 1) {
		part := joined(h.load(asm.Mov.Imm(asm.R2, tags*tagLength), stackHead, headLength, "to-whom"), asm.Instructions{
			asm.StoreImm(asm.RFP, stackTransport, int64(transportTypeAt+tags*tagLength), asm.Word),
			asm.LoadMem(kind, asm.RFP, head(12), asm.Half),
		})
		if tags < mostTags {
			part = append(part, asm.JEq.Imm(kind, big(etherVLAN), behindTags(tags+1)), asm.JNE.Imm(kind, big(etherQinQ), "protocol"))
		}
		p = append(p, labelled(behindTags(tags), part)...)
	}
	return p
}

// behindTags names the place where the head behind so many tags is loaded.
func behindTags(tags int32) string { return fmt.Sprintf("tags-%d", tags) }
