package path

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// changes are what a device was seen to change of a direction's frames.
//
//	declared (dut.changes), and the same for all frames  ─▶ learned: the Report says how
//	declared, and one frame contradicts another          ─▶ wrong translation
//	not declared                                         ─▶ undeclared change
type changes struct {
	translations map[Flow]Flow // of flows that were sent, as they arrived
	arrivedFrom  map[Flow]Flow // the same by what arrived
	order        []Flow        // of translations
	tunnel       string        // what packets arrived wrapped into
	wrapped      int           // frames of those
	unwrapped    string        // what packets were sent wrapped into, and arrived without
	added        span          // bytes of a frame
	lower        span          // TTL
	sentVLAN     uint16
	vlan         *uint16 // on arrival

	undeclared      int // frames with such a change
	change          plan.Change
	found           string // what it is, in few words
	foundWhole      string
	mistranslated   int
	mistranslation  string
	mistranslations string
}

// span is the least and the most of a number that frames show.
type span struct {
	least, most int
	known       bool
}

func (s *span) add(n int) {
	if !s.known {
		*s = span{n, n, true}
	}
	s.least, s.most = min(s.least, n), max(s.most, n)
}

// learn takes in what the device changed of a frame, whose packet stands behind what it was wrapped into.
func (t *tally) learn(p Probe, frame []byte, inner layers) {
	t.learnTunnel(frame, inner)
	if arrived := nest(frame); len(nest(p.Frame)) > 1 && len(arrived) == 1 {
		t.seen.unwrapped = tunnelName(p.Frame)
	}
	t.learnVLAN(p, frame)
	t.learnFlow(p, FlowOf(p.Frame), inner.flow(frame))
	t.seen.added.add(unpadded(frame) - unpadded(p.Frame))
	t.seen.lower.add(p.ttl() - int(frame[inner.ttlOffset()]))
}

// unpadded is how long a frame is without what fills it up to Ethernet's least.
func unpadded(frame []byte) int {
	l, err := layersOf(frame)
	if err != nil {
		return len(frame)
	}
	return l.end
}

func (t *tally) undeclare(change plan.Change, found, whole string) {
	if t.seen.undeclared++; t.seen.undeclared == 1 {
		t.seen.change, t.seen.found, t.seen.foundWhole = change, found, whole
	}
}

func (t *tally) learnTunnel(frame []byte, inner layers) {
	outer, err := layersOf(frame)
	if err == nil && outer.network == inner.network {
		return
	}
	t.seen.wrapped++
	t.seen.tunnel = tunnelName(frame)
	if t.device.MayChange(plan.Encapsulation) {
		return
	}
	from := ""
	if err == nil {
		addresses, _ := addressesOf(frame) // layersOf saw a whole header
		from = fmt.Sprintf(", from %s to %s", addresses[0], addresses[1])
	}
	t.undeclare(plan.Encapsulation, "inside "+t.seen.tunnel, fmt.Sprintf("inside other packets (%s%s)", t.seen.tunnel,
		from))
}

// learnVLAN compares a frame's tag with the one of the link where it arrives. A port may take a tag off before
// anybody sees it, so a missing tag is only judged of a device whose changes are declared.
func (t *tally) learnVLAN(p Probe, frame []byte) {
	tag, link := vlanOf(frame), p.Lane.VLANAtEnd
	t.seen.sentVLAN = vlanOf(p.Frame)
	switch {
	case t.seen.vlan != nil && *t.seen.vlan != tag:
		t.mistranslate(fmt.Sprintf("frames arrive with VLAN %d and with VLAN %d", *t.seen.vlan, tag), "")
	case tag != link && !t.device.MayChange(plan.VLAN) && (tag != 0 || len(t.device.Changes) > 0):
		t.undeclare(plan.VLAN, fmt.Sprintf("with VLAN %d", tag), fmt.Sprintf("with VLAN %d instead of %d (0: untagged)",
			tag, link))
	}
	t.seen.vlan = &tag
}

func (t *tally) mistranslate(found, explained string) {
	if t.seen.mistranslated++; t.seen.mistranslated == 1 {
		t.seen.mistranslation, t.seen.mistranslations = found, found+explained
	}
}

// learnFlow judges as what a flow arrived. A flow has one translation, which no other flow has, or answers would come
// to the wrong end.
func (t *tally) learnFlow(p Probe, was, is Flow) {
	if m := t.device.Mode(); m != nil && m.NAT != nil {
		return // its translations are known, and translationFault judges them
	}
	known, isKnown := p.Lane.Translations[was]
	if !isKnown {
		known, isKnown = t.seen.translations[was]
	}
	switch earlier, taken := t.seen.arrivedFrom[is]; {
	case isKnown && known != is:
		t.mistranslate(fmt.Sprintf("%s arrives instead of %s", end(is.Source), end(known.Source)),
			p.Lane.explain(was, known, is))
	case taken && earlier != was:
		t.mistranslate(fmt.Sprintf("%s and %s both arrive as %s", end(earlier.Source), end(was.Source), end(is.Source)),
			fmt.Sprintf(": the flows %s and %s arrived as one, %s", earlier, was, is))
	case !isKnown && is != was && !t.device.MayChange(plan.Addresses):
		t.undeclare(plan.Addresses, "as "+end(is.Source), fmt.Sprintf("with other addresses or ports, %s instead of %s",
			is, was))
	}
	if t.seen.translations == nil {
		t.seen.translations, t.seen.arrivedFrom = map[Flow]Flow{}, map[Flow]Flow{}
	}
	if _, again := t.seen.translations[was]; !again {
		t.seen.order = append(t.seen.order, was)
	}
	t.seen.translations[was], t.seen.arrivedFrom[is] = is, was
}

// explain says of a flow that arrived as another one than before, or than it answers, what it is instead.
func (l Lane) explain(was, known, is Flow) string {
	for other, translation := range l.Translations {
		if translation == is {
			return fmt.Sprintf(": a frame of flow %s arrived as %s, which is flow %s, and not as %s", was, is, other,
				known)
		}
	}
	return fmt.Sprintf(": a frame of flow %s arrived as %s, and not as %s", was, is, known)
}

// changeFault is the fault of changes that were not declared, or contradict each other, or nil.
func (t *tally) changeFault() *fault {
	target := t.direction.To
	switch {
	case t.seen.undeclared > 0:
		f := t.faultOf(report.UndeclaredChange, "%d of %d frames arrived on %s %s, which is not declared: if the device "+
			"is to do so, write dut.changes: [%s]", t.seen.undeclared, t.sent, target, t.seen.foundWhole, t.seen.change)
		f.cause.Change, f.cause.Found = string(t.seen.change), t.seen.found
		return f
	case t.seen.mistranslated > 0:
		f := t.faultOf(report.WrongTranslation, "%d of %d frames arrived on %s wrongly translated: %s; correct the "+
			"device's translation", t.seen.mistranslated, t.sent, target, t.seen.mistranslations)
		f.cause.Found = t.seen.mistranslation
		return f
	}
	return nil
}

// Contradiction is what frames show that contradicts what was learned of a direction, as an unproven check. It is nil
// where nothing does. Missing frames prove nothing here.
func Contradiction(d plan.Direction, device plan.DUT, probes []Probe, arrivals []Arrival) *report.PathCheck {
	if len(device.Changes) == 0 {
		return nil
	}
	t := tally{direction: d, device: device, forwarding: device.Forwarding, sent: len(probes)}
	_, marked := sorted(arrivals)
	for _, p := range probes {
		t.count(p, marked[p.Token])
	}
	f := t.changeFault()
	if f == nil {
		return nil
	}
	return &report.PathCheck{From: d.From, To: d.To, Sent: t.sent, Received: t.arrived, Message: f.message,
		Fault: &f.cause}
}

// mostExamples is how many translations a Report shows.
const mostExamples = 8

// learned is what the Report says of what the device changes, or nil for a device that isn't to change anything.
func (t *tally) learned(lane Lane) *report.Learned {
	if len(t.device.Changes) == 0 || t.arrived == 0 {
		return nil
	}
	s := t.seen
	r := &report.Learned{AddedBytesMin: s.added.least, AddedBytesMax: s.added.most, TTLLowerMin: s.lower.least,
		TTLLowerMax: s.lower.most, Tunnel: s.tunnel, UnwrappedFrom: s.unwrapped, SentVLAN: s.sentVLAN,
		Answers: lane.Answers}
	if s.vlan != nil {
		r.ArrivedVLAN = *s.vlan
	}
	translated := slices.DeleteFunc(slices.Clone(s.order), func(f Flow) bool { return s.translations[f] == f })
	r.TranslatedFlows = len(translated)
	for _, f := range translated[:min(len(translated), mostExamples)] {
		r.Translations = append(r.Translations, report.Translation{Sent: f.String(),
			Arrived: s.translations[f].String()})
	}
	for _, c := range t.device.Changes {
		seen := map[plan.Change]bool{plan.Addresses: r.TranslatedFlows > 0, plan.Encapsulation: s.wrapped > 0 ||
			s.unwrapped != "", plan.VLAN: r.SentVLAN != r.ArrivedVLAN, plan.Length: s.added.least != 0 || s.added.most != 0}
		if !seen[c] {
			r.Unchanged = append(r.Unchanged, string(c))
		}
	}
	return r
}

// SayLearned says for people what a path check learned, or nothing.
func SayLearned(l *report.Learned) string {
	if l == nil {
		return ""
	}
	var texts []string
	add := func(format string, values ...any) { texts = append(texts, fmt.Sprintf(format, values...)) }
	if l.Answers {
		add("frames answer what arrived in the other direction")
	}
	if n := len(l.Translations); n > 0 {
		add("%d flows translated, such as %s, which arrives as %s", l.TranslatedFlows, l.Translations[0].Sent, l.
			Translations[0].Arrived)
	}
	if l.Tunnel != "" {
		add("wrapped into %s", l.Tunnel)
	}
	if l.UnwrappedFrom != "" {
		add("unwrapped from %s", l.UnwrappedFrom)
	}
	if l.SentVLAN != l.ArrivedVLAN {
		add("VLAN %d arrives as %d (0: untagged)", l.SentVLAN, l.ArrivedVLAN)
	}
	switch {
	case l.AddedBytesMin != l.AddedBytesMax:
		add("frames longer by %d to %d bytes", l.AddedBytesMin, l.AddedBytesMax)
	case l.AddedBytesMin > 0:
		add("frames %d bytes longer", l.AddedBytesMin)
	case l.AddedBytesMin < 0:
		add("frames %d bytes shorter", -l.AddedBytesMin)
	}
	if l.TTLLowerMin != l.TTLLowerMax {
		add("TTL lower by %d to %d", l.TTLLowerMin, l.TTLLowerMax)
	} else {
		add("TTL lower by %d", l.TTLLowerMin)
	}
	if len(l.Unchanged) > 0 {
		add("declared but not seen: %s", strings.Join(l.Unchanged, ", "))
	}
	return "; learned: " + strings.Join(texts, ", ")
}

// Translation is what became of one flow, with a frame of it as it arrived.
type Translation struct {
	Sent, Arrived Flow
	Frame         []byte
	inner         int // where its packet begins, behind what it is wrapped into
}

// Translations are what arrived on the lanes of these probes, one for each flow, in the order of the probes. A frame
// that wasn't captured, or has no packet any more, isn't among them.
func Translations(probes []Probe, arrivals []Arrival) []Translation {
	byToken := map[Token]Arrival{}
	for _, a := range arrivals {
		if token, ok := tokenOf(a.Bytes); ok {
			byToken[token] = a
		}
	}
	known := map[Flow]bool{}
	var found []Translation
	for _, p := range probes {
		a, ok := byToken[p.Token]
		if !ok || a.Generator != p.Lane.Receiver || a.Port != p.Lane.Receive {
			continue
		}
		was := FlowOf(p.Frame)
		l, err := p.carrier(a.Bytes)
		if err != nil || known[was] {
			continue
		}
		known[was] = true
		found = append(found, Translation{Sent: was, Arrived: l.flow(a.Bytes), Frame: a.Bytes, inner: l.network})
	}
	return found
}

// Answer is the frame that answers what arrived: all addresses and ports are reversed, of the packet and of what it is
// wrapped into. It is as long as the template, and has its payload. MACs are the port's to fill in. An error says what
// can't be answered.
//
//	arrived   │ MACs │ tag │ IP  a→b │ UDP p→q │ token…          │
//	answer    │ 0    │ tag │ IP  b→a │ UDP q→p │ template's end… │
func (t Translation) Answer(template []byte) ([]byte, error) {
	nested := nest(t.Frame)
	if len(nested) == 0 || nested[len(nested)-1].network != t.inner {
		return nil, fmt.Errorf("frames arrive wrapped into %s, which linerate can't answer (it can IPIP, GRE and "+
			"VXLAN): measure this direction alone", tunnelName(t.Frame))
	}
	inner := nested[len(nested)-1]
	sent := nest(template)
	if len(sent) == 0 {
		return nil, errNoIP
	}
	room := len(template) - inner.payload
	if room < 0 {
		return nil, fmt.Errorf("frames of %d bytes can't hold the headers of an answer, which are %d bytes with FCS: "+
			"send larger frames", len(template)+units.FCSBytes, inner.payload+units.FCSBytes)
	}
	frame := slices.Concat(make([]byte, 12), t.Frame[12:inner.payload], make([]byte, room))
	payload := template[sent[len(sent)-1].payload:]
	copy(frame[inner.payload:], payload)
	for i := inner.payload + len(payload); i < len(frame); i++ {
		frame[i] = frame[i-1] // profiles fill with one byte
	}
	for i, l := range slices.Backward(nested) {
		l.end = len(frame)
		l.reverse(frame, i == len(nested)-1)
		if i > 0 {
			reverseEthernet(frame, nested[i-1], l)
		}
	}
	return frame, nil
}

// reverse exchanges the ends of a packet that reaches to the frame's end, with fresh lengths, TTL and checksums. A UDP
// packet that had no checksum gets none. A tunnel's ports stay, as both ends listen on the same.
func (l layers) reverse(frame []byte, ports bool) {
	const ttl = 64
	offset, size := l.network+12, 4
	if l.version == 6 {
		offset, size = l.network+8, 16
		binary.BigEndian.PutUint16(frame[l.network+4:], uint16(len(frame)-l.network-40))
	} else {
		binary.BigEndian.PutUint16(frame[l.network+2:], uint16(len(frame)-l.network))
	}
	frame[l.ttlOffset()] = ttl
	swap(frame[offset:offset+size], frame[offset+size:offset+2*size])
	if l.hasChecksum && ports {
		swap(frame[l.transport:l.transport+2], frame[l.transport+2:l.transport+4])
	}
	if l.protocol == protocolUDP {
		binary.BigEndian.PutUint16(frame[l.transport+4:], uint16(len(frame)-l.transport))
	}
	right := sumErrors{header: 0xffff, transport: 0xffff}
	if l.hasChecksum {
		right.unset = l.errors(frame).unset
	}
	l.keepErrors(frame, right)
}

// reverseEthernet exchanges the MACs of a frame that a tunnel's packet carries.
func reverseEthernet(frame []byte, outer, inner layers) {
	if start := inner.network - ethernetHeader; outer.protocol == protocolUDP || outer.protocol == protocolGRE &&
		start >= outer.transport+4 && binary.BigEndian.Uint16(frame[outer.transport+2:]) == 0x6558 {
		swap(frame[start:start+6], frame[start+6:start+12])
	}
}

func swap(a, b []byte) {
	for i := range a {
		a[i], b[i] = b[i], a[i]
	}
}
