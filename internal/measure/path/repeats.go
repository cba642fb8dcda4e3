package path

import (
	"fmt"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// How many numbered frames are sent, at least and at most.
const (
	leastNumbered = 600
	mostNumbered  = 3000
)

// NumberedFor is how many numbered frames to send in a direction of a test that allows this loss. A device that
// forwards a share of all frames twice may lose as many unseen. Of 3 ÷ share frames at least one comes twice in 95
// of 100 cases (−ln 0.05 = 3.0). Below a share of 0.1 % that would take more frames than are sent.
func NumberedFor(allowed units.Ratio) int {
	if allowed <= 0 {
		return mostNumbered
	}
	return int(min(max(3*units.One/allowed, leastNumbered), mostNumbered))
}

// Numbered marks n frames of the lane, with the headers of these templates in turn and no more payload than the
// token, numbered from first.
func Numbered(lane Lane, templates [][]byte, n int, seed uint64, first uint32) ([]Probe, error) {
	if len(templates) == 0 {
		return nil, nil
	}
	marked := make([][]byte, len(templates))
	for i, template := range templates {
		frame, err := mark(headersOnly(template), Token{})
		if err != nil {
			return nil, fmt.Errorf("number frames of generator %s like frame %d of its streams: %w", lane.Generator, i+
				1, err)
		}
		marked[i] = frame
	}
	probes := make([]Probe, n)
	for i := range probes {
		token := NewToken(seed, first+uint32(i))
		frame, err := mark(marked[i%len(marked)], token)
		if err != nil {
			return nil, err
		}
		probes[i] = Probe{Lane: lane, Token: token, Frame: frame}
	}
	return probes, nil
}

// headersOnly is the template without its payload and with the lengths of that. It leaves a template without an IP
// header to mark, which says so.
func headersOnly(template []byte) []byte {
	nested := nest(template)
	if len(nested) == 0 {
		return template
	}
	inner := nested[len(nested)-1]
	frame := slices.Clone(template[:inner.payload])
	for _, l := range slices.Backward(nested) {
		errs := l.errors(template)
		l.grow(frame, inner.payload-inner.end)
		l.end = inner.payload
		l.keepErrors(frame, errs)
	}
	return frame
}

// Repeats counts how many of a direction's numbered frames came, and how many of them more than once, among all
// frames that were captured on all ports. A missing frame proves nothing here, as a device may lose some.
func Repeats(probes []Probe, arrivals []Arrival) report.Repeats {
	lanes, times := make(map[Token]*Lane, len(probes)), make(map[Token]int, len(probes))
	for i := range probes {
		lanes[probes[i].Token] = &probes[i].Lane
	}
	found := report.Repeats{Sent: len(probes)}
	for _, s := range arrivals {
		token, ok := tokenOf(s.Bytes)
		if l := lanes[token]; !ok || l == nil || s.Generator != l.Receiver || s.Port != l.Receive {
			continue
		}
		times[token]++
		switch times[token] {
		case 1:
			found.Received++
		case 2:
			found.Twice++
		}
	}
	return found
}

// SayRepeats says for people what numbered frames showed of a direction.
func SayRepeats(d plan.Direction, found report.Repeats) string {
	switch {
	case found.Twice > 0:
		return fmt.Sprintf("%d of %d numbered frames that were sent on %s arrived on %s, and %d of them more than once: each of these may stand for one that was lost, so no loss can be told; "+
			"check for a loop or a second path between %s and %s", found.Received, found.Sent, d.From, d.To,
			found.Twice, d.To, d.From)
	case found.Received == 0:
		return fmt.Sprintf("none of %d numbered frames sent on %s arrived on %s: whether frames come twice isn't known",
			found.Sent, d.From, d.To)
	}
	return fmt.Sprintf("of %d numbered frames that were sent on %s %d arrived on %s, each once", found.Sent, d.From,
		found.Received, d.To)
}
