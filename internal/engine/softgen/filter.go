package softgen

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// filter says whether a capture keeps a frame.
type filter func(frame []byte) bool

// parseFilter reads the part of the pcap filter language that clients use for resolving and pinging
// (arp, ip, ip6, icmp, icmp6, udp, tcp and vlan, joined by and, or, not and brackets). As in that
// language, the words after "vlan" look behind one more tag. An empty text keeps every frame.
//
//	or    = and {"or" and}        and = not {"and" not}
//	not   = "not" not | primitive | "(" or ")"
func parseFilter(text string) (filter, error) {
	words := strings.Fields(strings.NewReplacer("(", " ( ", ")", " ) ", "&&", " and ", "||", " or ", "!",
		" not ").Replace(text))
	if len(words) == 0 {
		return func([]byte) bool { return true }, nil
	}
	parser := filterParser{words: words}
	matches, err := parser.parseOr()
	if err == nil && len(parser.words) > 0 {
		err = fmt.Errorf("unexpected '%s'", parser.words[0])
	}
	if err != nil {
		return nil, fmt.Errorf("filter '%s': %w; the software engine knows arp, ip, ip6, icmp, icmp6, udp, tcp, "+
			"vlan, and, or, not", text, err)
	}
	return matches, nil
}

type filterParser struct {
	words []string
	depth int // brackets
	tags  int // number of "vlan" before the present word
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

func (p *filterParser) parseOr() (filter, error) {
	matches, err := p.parseAnd()
	for err == nil && p.accept("or") {
		var right filter
		first := matches
		right, err = p.parseAnd()
		matches = func(frame []byte) bool { return first(frame) || right(frame) }
	}
	return matches, err
}

func (p *filterParser) parseAnd() (filter, error) {
	matches, err := p.parseNot()
	for err == nil && p.accept("and") {
		var right filter
		first := matches
		right, err = p.parseNot()
		matches = func(frame []byte) bool { return first(frame) && right(frame) }
	}
	return matches, err
}

func (p *filterParser) parseNot() (filter, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, fmt.Errorf("nested too deep")
	}
	defer func() { p.depth-- }()
	if p.accept("not") {
		inner, err := p.parseNot()
		return func(frame []byte) bool { return !inner(frame) }, err
	}
	if !p.accept("(") {
		return p.primitive()
	}
	inner, err := p.parseOr()
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

// etherType is the type behind this many tags, or 0 in a frame that is too short.
func etherType(frame []byte, tags int) uint16 {
	offset := 12 + 4*tags
	if len(frame) < offset+2 {
		return 0
	}
	return binary.BigEndian.Uint16(frame[offset:])
}

func isTag(etherType uint16) bool {
	return etherType == 0x8100 || etherType == 0x88a8 || etherType == 0x9100
}

// protocol is the protocol number in an IPv4 or IPv6 header behind this many tags, or -1 without one.
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
