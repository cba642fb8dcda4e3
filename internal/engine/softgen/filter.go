package softgen

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// filter says whether a capture takes a frame.
type filter func(frame []byte) bool

// parseFilter reads the part of the pcap filter language that clients use for resolving and pinging: arp, ip, ip6, icmp, icmp6, udp, tcp,
// vlan, joined by and, or, not and brackets. As in that language, what follows "vlan" looks behind one more tag. An empty text takes
// everything.
//
//	or    = and {"or" and}        and = not {"and" not}
//	not   = "not" not | primitive | "(" or ")"
func parseFilter(text string) (filter, error) {
	words := strings.Fields(strings.NewReplacer("(", " ( ", ")", " ) ", "&&", " and ", "||", " or ", "!", " not ").Replace(text))
	if len(words) == 0 {
		return func([]byte) bool { return true }, nil
	}
	parser := filterParser{words: words}
	wanted, err := parser.or()
	if err == nil && len(parser.words) > 0 {
		err = fmt.Errorf("unexpected '%s'", parser.words[0])
	}
	if err != nil {
		return nil, fmt.Errorf("filter '%s': %w; the software engine knows arp, ip, ip6, icmp, icmp6, udp, tcp, vlan, and, or, not", text, err)
	}
	return wanted, nil
}

type filterParser struct {
	words []string
	depth int // brackets
	tags  int // "vlan" so far
}

// maxDepth bounds the nesting of brackets and nots.
const maxDepth = 100

func (p *filterParser) accept(word string) bool {
	if len(p.words) == 0 || p.words[0] != word {
		return false
	}
	p.words = p.words[1:]
	return true
}

func (p *filterParser) or() (filter, error) {
	left, err := p.and()
	for err == nil && p.accept("or") {
		var right filter
		first := left
		right, err = p.and()
		left = func(frame []byte) bool { return first(frame) || right(frame) }
	}
	return left, err
}

func (p *filterParser) and() (filter, error) {
	left, err := p.not()
	for err == nil && p.accept("and") {
		var right filter
		first := left
		right, err = p.not()
		left = func(frame []byte) bool { return first(frame) && right(frame) }
	}
	return left, err
}

func (p *filterParser) not() (filter, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, fmt.Errorf("nested too deep")
	}
	defer func() { p.depth-- }()
	if p.accept("not") {
		inner, err := p.not()
		return func(frame []byte) bool { return !inner(frame) }, err
	}
	if !p.accept("(") {
		return p.primitive()
	}
	inner, err := p.or()
	if err == nil && !p.accept(")") {
		err = fmt.Errorf("a bracket is not closed")
	}
	return inner, err
}

func (p *filterParser) primitive() (filter, error) {
	if len(p.words) == 0 {
		return nil, fmt.Errorf("it ends too early")
	}
	word, tags := p.words[0], p.tags
	p.words = p.words[1:]
	switch word {
	case "vlan":
		p.tags++
		return func(frame []byte) bool { return isTag(etherType(frame, tags)) }, nil
	case "arp":
		return func(frame []byte) bool { return etherType(frame, tags) == 0x0806 }, nil
	case "ip":
		return func(frame []byte) bool { return etherType(frame, tags) == 0x0800 }, nil
	case "ip6":
		return func(frame []byte) bool { return etherType(frame, tags) == 0x86dd }, nil
	case "icmp", "icmp6", "udp", "tcp":
		number := map[string]byte{"icmp": 1, "tcp": 6, "udp": 17, "icmp6": 58}[word]
		return func(frame []byte) bool { return protocol(frame, tags) == int(number) }, nil
	}
	return nil, fmt.Errorf("unknown word '%s'", word)
}

// etherType is the type behind so many tags; 0 where the frame is too short.
func etherType(frame []byte, tags int) uint16 {
	at := 12 + 4*tags
	if len(frame) < at+2 {
		return 0
	}
	return binary.BigEndian.Uint16(frame[at:])
}

func isTag(etherType uint16) bool {
	return etherType == 0x8100 || etherType == 0x88a8 || etherType == 0x9100
}

// protocol is the protocol number in an IPv4 or IPv6 header behind so many tags; -1 for anything else.
func protocol(frame []byte, tags int) int {
	header := 14 + 4*tags
	switch kind := etherType(frame, tags); {
	case kind == 0x0800 && len(frame) > header+9:
		return int(frame[header+9])
	case kind == 0x86dd && len(frame) > header+6:
		return int(frame[header+6])
	}
	return -1
}
