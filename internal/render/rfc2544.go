package render

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// rfc2544Words say what the figures are.
const rfc2544Words = "Theoretical, offered, throughput and input are frames per second. Theoretical is how many frames of that size the slower of the direction's two links carries, preamble and inter-frame gap included. Throughput is what came back of the highest load of which no more " +
	"was lost than is allowed (RFC 2544 allows none); Mb/s are layer 1. Input is what was offered."

// ethernetSizes are the frame sizes that RFC 2544, section 9.1, asks for on Ethernet.
func ethernetSizes() []float64 { return []float64{64, 128, 256, 512, 1024, 1280, 1518} }

// rfc2544Trial is how long RFC 2544, section 24, has trials last.
const rfc2544Trial = time.Minute

// viewOfRFC2544 has of each product the throughput, the frame loss and the conditions of its tests.
func viewOfRFC2544(b *report.RFC2544) view {
	v := view{source: b, title: rfc2544Title(b), legend: always(rfc2544Words), notes: rfc2544Notes(b)}
	v.legend.summed, v.legend.combined = append(v.legend.summed, boundWords, looseWords),
		append(v.legend.combined, boundWords, looseWords)
	for _, product := range productsOf(b) {
		v.sections = append(v.sections, rfc2544Section(b, product))
	}
	for _, m := range b.Missing {
		v.remarks = append(v.remarks, warning(m.Test, "has no place here: "+m.Message))
	}
	return v
}

func rfc2544Title(b *report.RFC2544) string {
	return strings.TrimSpace("RFC 2544, section 26: " + strings.Join(productsOf(b), ", "))
}

// productsOf are the products that Reports are of.
func productsOf(b *report.RFC2544) (names []string) {
	add := func(s report.Stream) {
		if !slices.Contains(names, s.Product) {
			names = append(names, s.Product)
		}
	}
	for _, p := range b.Throughput {
		add(p.Stream)
	}
	for _, p := range b.Loss {
		add(p.Stream)
	}
	return names
}

// frameText is a frame size, such as "64", or of several sizes "353.8 on average".
func frameText(s report.Stream) string {
	if s.FrameBytes == "" {
		return "unknown"
	}
	text := short(r1(s.FrameBytes.Float()))
	if s.Mixed {
		text += " on average"
	}
	return text
}

func mediaText(s report.Stream) string {
	if s.LineRate == 0 {
		return "unknown"
	}
	return wording.BitRate(int64(s.LineRate))
}

func theoryText(s report.Stream) string {
	if s.TheoreticalPacketsPerSecond == 0 {
		return "-"
	}
	return wording.Count(s.TheoreticalPacketsPerSecond)
}

// throughputTable is section 26.1's of a product. It is nil where the product has no throughput. Text has no room
// for the media's rate and how long trials are, which the conditions have.
func throughputTable(b *report.RFC2544, product string) *table {
	t := newTable(1, "direction", "bytes", "media", "theoretical", "offered", "throughput", "Mb/s", "% line rate",
		"lost at most", "trials")
	t.columns[2].shownIn, t.columns[9].shownIn = combined, combined
	for _, p := range b.Throughput {
		if p.Stream.Product != product {
			continue
		}
		sign := pointSign(p)
		percent := "-"
		if p.Stream.TheoreticalPacketsPerSecond > 0 {
			percent = sign + p.TheoreticalPercent.FormatFixed()
		}
		allowed := wording.Ratio(p.LossAllowed)
		if p.Goal != "" {
			allowed += " (" + p.Goal + ")"
		}
		t.add(p.Stream.Direction, frameText(p.Stream), mediaText(p.Stream), theoryText(p.Stream),
			wording.Count(p.Offered.PacketsPerSecond), sign+wording.Count(p.Received.PacketsPerSecond),
			sign+strconv.FormatFloat(float64(p.Received.Layer1BitsPerSecond)/1e6, 'f', 2, 64), percent, allowed,
			wording.Span(p.Stream.TrialDuration.Std()))
	}
	return t.orNone()
}

// orNone is the table, or nil where it has no row.
func (t *table) orNone() *table {
	if len(t.rows) == 0 {
		return nil
	}
	return t
}

func pointSign(p report.ThroughputPoint) string {
	return report.Headline{Measured: true, Bound: p.LowerBound, Unconfirmed: p.Unconfirmed}.Sign()
}

// frameLossTable is section 26.3's of a product. It is nil where the product has no frame loss.
func frameLossTable(b *report.RFC2544, product string) *table {
	t := newTable(1, "direction", "bytes", "media", "theoretical", "input", "input %", "loss %", "trials")
	for _, p := range b.Loss {
		if p.Stream.Product != product {
			continue
		}
		input := "-"
		if p.Stream.TheoreticalPacketsPerSecond > 0 {
			input = p.InputPercent.FormatFixed()
		}
		t.add(p.Stream.Direction, frameText(p.Stream), mediaText(p.Stream), theoryText(p.Stream),
			wording.Count(int64(math.Round(p.Offered.Float()))), input,
			strings.TrimSuffix(wording.Loss(units.RatioOfShare(p.LossRatio.Float())), "%"),
			wording.Span(p.Stream.TrialDuration.Std()))
	}
	return t.orNone()
}

// rfc2544Section is a product's frame loss, its statement of performance, and the conditions of its tests.
func rfc2544Section(b *report.RFC2544, product string) section {
	s := section{title: product, summary: statement(b, product), unfolded: true, facts: conditions(b, product)}
	for _, t := range []*table{throughputTable(b, product), frameLossTable(b, product)} {
		if t != nil {
			s.tables = append(s.tables, t)
		}
	}
	for _, r := range b.Reports {
		if h := report.NamedHeadline(r); h.Product == product {
			s.remarks = append(s.remarks, warningsOf(h.Name, warnings(r))...)
		}
	}
	return s
}

// statement is a product's statement of performance, the rate of its smallest frames with the least loss allowed,
// with what section 26.1 wants beside it.
func statement(b *report.RFC2544, product string) string {
	i := slices.IndexFunc(b.Throughput, func(p report.ThroughputPoint) bool { return p.Stream.Product == product })
	if i < 0 {
		return "frame loss rate alone, and no throughput"
	}
	p := b.Throughput[i]
	for _, throughput := range b.Throughput[i:] {
		if throughput.Stream.Product == product && throughput.Stream.FrameBytes == p.Stream.FrameBytes &&
			throughput.LossAllowed < p.LossAllowed {
			p = throughput
		}
	}
	text := fmt.Sprintf("%s%s frames/s of %s bytes %s", pointSign(p), wording.Count(p.Received.PacketsPerSecond),
		frameText(p.Stream), p.Stream.Direction)
	if p.LossAllowed > 0 {
		text += ", with up to " + wording.Ratio(p.LossAllowed) + " lost"
	}
	if p.Stream.TheoreticalPacketsPerSecond > 0 {
		text += fmt.Sprintf("; %s carries %s", mediaText(p.Stream), theoryText(p.Stream))
	}
	return text + "; " + cmp.Or(p.Stream.Protocol, "protocol not known")
}

// conditions are those of a product's tests. It says once what all have in common, and the rest with the tests that
// it is of.
func conditions(b *report.RFC2544, product string) (out []fact) {
	var names []string
	type condition struct {
		fact
		values []string
	}
	var conditions []condition
	for _, r := range b.Reports {
		h := report.NamedHeadline(r)
		if h.Product != product {
			continue
		}
		name := h.Name
		for n := 2; slices.Contains(names, name); n++ {
			name = h.Name + " (" + strconv.Itoa(n) + ")"
		}
		names = append(names, name)
		for _, f := range facts(r) {
			if i := slices.IndexFunc(conditions,
				func(c condition) bool { return c.fact == f && !slices.Contains(c.values, name) }); i >= 0 {
				conditions[i].values = append(conditions[i].values, name)
				continue
			}
			conditions = append(conditions, condition{f, []string{name}})
		}
	}
	for _, c := range conditions {
		if len(c.values) < len(names) {
			c.Term = strings.Join(c.values, ", ") + ": " + c.Term
		}
		out = append(out, c.fact)
	}
	return out
}

// rfc2544Notes say what of RFC 2544 isn't here, or is otherwise.
func rfc2544Notes(b *report.RFC2544) (notes []string) {
	lossy, brief, sizes := false, time.Duration(0), map[float64]bool{}
	see := func(s report.Stream) {
		if !s.Mixed {
			sizes[s.FrameBytes.Float()] = true
		}
		if d := s.TrialDuration.Std(); d > 0 && d < rfc2544Trial && (brief == 0 || d < brief) {
			brief = d
		}
	}
	for _, p := range b.Throughput {
		lossy = lossy || p.LossAllowed > 0
		see(p.Stream)
	}
	for _, p := range b.Loss {
		see(p.Stream)
	}
	if lossy {
		notes = append(notes, "some rates allow loss, which RFC 2544's throughput doesn't: read \"lost at most\" beside each")
	}
	if brief > 0 {
		notes = append(notes, "trials lasted from "+wording.Span(brief)+" on, and RFC 2544 asks for "+
			wording.Span(rfc2544Trial))
	}
	var missing []string
	for _, size := range ethernetSizes() {
		if !sizes[size] {
			missing = append(missing, short(size))
		}
	}
	if len(missing) > 0 {
		notes = append(notes, "frame sizes that RFC 2544 asks for on Ethernet and that weren't measured: "+
			strings.Join(missing, ", "))
	}
	return append(notes, "latency (section 26.2) is not in it: procedure.latency measures it by load, and a run's page has it")
}
