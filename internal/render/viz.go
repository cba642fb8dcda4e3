package render

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/sanitize"
	"github.com/linerate-dev/linerate/internal/units"
)

// vizFormat is the JSON that the published loadtest script wrote and trex-loadtest-viz draws. It is a document of
// its own, of one run's samples, which a view doesn't have. Its drawings are no other format's.
func vizFormat() format {
	return format{name: "viz", kinds: []Kind{Tests}, fits: vizFits, write: func(w io.Writer, d Document,
		_ TextOptions) error {
		if documents, ok := d.source.(report.Documents); ok && len(documents.Reports) == 1 {
			return viz(w, documents.Reports[0])
		}
		return errors.New("format viz holds one test, and there is none")
	}}
}

// vizFits says that the format holds one test.
func vizFits(tests, suites int) error {
	switch {
	case suites > 0:
		return errors.New("format viz holds one test, and a suite has several: write another format, or a test of the suite's by its name")
	case tests > 1:
		return fmt.Errorf("format viz holds one test, and there are %d: write them one at a time", tests)
	}
	return nil
}

// viz writes the ramp in the JSON that the published loadtest script wrote and trex-loadtest-viz draws. "vars" are
// the script's flags, and "stats" has one reading a second of ports "0" and "1" with their rates. It holds the
// first direction's lane only. Its source is port 0, its destination port 1, and the direction back, if there is
// one, port 1 to port 0.
//
// It writes only what belongs to the script's own procedure, the ramp and a hold at its top. The viewer calls the
// last stretch of loss the device's limit, and the search between the two would end that stretch. Rates are
// differences of raw counters. It leaves out a reading in which a sending port sent nothing, and one where there
// would be exactly three, because the viewer stumbles over both.
func viz(w io.Writer, r *report.Report) error {
	if report.PlanOf(r).Sessions != nil {
		return errors.New("viz: traffic is sessions, and this viewer draws ramps of frames alone: write html, whose page draws goodput")
	}
	l, err := laneOf(r)
	if err != nil {
		return fmt.Errorf("viz: %w", err)
	}
	stats := l.stats(r)
	if len(stats) == 3 {
		stats = stats[1:]
	}
	if len(stats) == 0 {
		return errors.New("viz: the report has no readings of a ramp, so there is nothing to draw: use a report whose run came to ramp")
	}
	vars, err := l.vars(report.PlanOf(r))
	if err != nil {
		return fmt.Errorf("viz: %w", err)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", " ")
	if err := enc.Encode(object{{"vars", vars}, {"stats", stats}}); err != nil {
		return fmt.Errorf("viz: %w", err)
	}
	return sanitize.JSON(w, b.Bytes())
}

// lane is the pair of ports that the viewer knows.
type lane struct {
	forward, backward int // indices of directions, with -1 for no way back
	mix               units.Traffic
	lines             [2]units.BitRate // of port 0's and port 1's link
}

// laneOf is the first direction and the one back.
func laneOf(r *report.Report) (lane, error) {
	directions := report.PlanOf(r).Directions
	if len(directions) == 0 {
		return lane{}, errors.New("the report has no directions")
	}
	first := directions[0]
	l := lane{mix: first.Mix, backward: slices.IndexFunc(directions,
		func(d plan.Direction) bool { return d.From == first.To && d.To == first.From })}
	for port, link := range []string{first.From, first.To} {
		l.lines[port] = lineRateOf(r, link)
		if l.lines[port] <= 0 {
			return lane{}, fmt.Errorf("the line rate of link %s is not known, and the viewer needs it: set the link's lineRate, such as 25gbps", link)
		}
	}
	return l, nil
}

// lineRateOf is a link's line rate as it was used, else as it was planned. It is 0 where it is unknown.
func lineRateOf(r *report.Report, link string) units.BitRate {
	for _, l := range r.LineRates {
		if l.Link == link {
			return l.BitsPerSecond
		}
	}
	for _, l := range report.PlanOf(r).Links {
		if l.Name == link {
			return l.LineRate
		}
	}
	return 0
}

// vars are the flags with which the published script would ramp like this.
func (l lane) vars(p *plan.Plan) (object, error) {
	if kind := cmp.Or(p.Procedure.Type, plan.TypeRamp); kind != plan.TypeRamp {
		return nil, fmt.Errorf("it draws ramps, and this is a %s: write html, which draws every procedure, or csv",
			kind)
	}
	ramp := p.Procedure.Ramp
	target, err := l.targetPercent(ramp.TargetRate)
	if err != nil {
		return nil, err
	}
	vars := object{
		{"warmup_mult", ramp.WarmupRate.String()},
		{"warmup_duration", wholeSeconds(ramp.WarmupDuration)},
		{"rampup_target", target},
		{"rampup_duration", wholeSeconds(ramp.RampDuration)},
		{"hold_duration", wholeSeconds(ramp.HoldDuration)},
		{"profile_file", profileFile(p.Test.Loadtest, l.mix)},
	}
	if l.backward < 0 {
		vars = append(vars, member{"unidirectional", true})
	}
	return vars, nil
}

// targetPercent is the ramp's top in percent of port 0's line rate, whole where it is.
func (l lane) targetPercent(target units.Rate) (json.Number, error) {
	rate, err := target.PacketRateOf(l.mix, l.lines[0])
	if err != nil {
		return "", fmt.Errorf("target %w", err)
	}
	percent := math.Round(float64(rate.Layer1(l.mix))/float64(l.lines[0])*1e6) / 1e4
	return json.Number(strconv.FormatFloat(percent, 'f', -1, 64)), nil
}

func wholeSeconds(d plan.Duration) json.Number {
	return json.Number(strconv.FormatFloat(d.Std().Seconds(), 'f', -1, 64))
}

// profileFile names the traffic as the viewer looks it up. The viewer knows "imix.py", and
// "udp_1pkt_simple_bdir.py" as 64B. From any other file it takes the name, without the directory and without ".py".
func profileFile(loadtest string, mix units.Traffic) string {
	name := strings.TrimSuffix(path.Base(cmp.Or(loadtest, "linerate")), ".py")
	smallest := mix.Packets > 0 && mix.Bytes == 64*mix.Packets
	switch lower := strings.ToLower(name); {
	case lower == "imix":
		return "imix.py"
	case lower == "64b", lower == "64", smallest:
		return "udp_1pkt_simple_bdir.py"
	}
	return name + ".py"
}

// stats are the readings, keyed by their second. The keys' text means nothing to the viewer, and their order is the
// time.
func (l lane) stats(r *report.Report) object {
	var drawn object
	for i := 1; i < len(r.Samples); i++ {
		earlier, later := r.Samples[i-1], r.Samples[i]
		if !inRamp(r, later) || later.Time <= earlier.Time || !l.covers(earlier) || !l.covers(later) {
			continue
		}
		if reading, ok := l.reading(earlier, later); ok {
			drawn = append(drawn, member{strconv.FormatFloat(later.Time.Std().Seconds(), 'f', 3, 64), reading})
		}
	}
	return drawn
}

// inRamp says whether a sample belongs to what the published script does, which is the ramp, and the hold at the
// ramp's top.
func inRamp(r *report.Report, s report.Sample) bool {
	if s.Phase != report.Hold {
		return s.Phase == report.Ramping
	}
	top := units.Ratio(0)
	for _, sample := range r.Samples {
		if sample.Phase == report.Ramping {
			top = max(top, sample.Load)
		}
	}
	return s.Load >= top
}

func (l lane) covers(s report.Sample) bool { return max(l.forward, l.backward) < len(s.Directions) }

// reading is one entry of stats. ok is false where it can't be drawn.
func (l lane) reading(earlier, later report.Sample) (object, bool) {
	took := (later.Time - earlier.Time).Std()
	forward := flowing{earlier.Directions[l.forward], later.Directions[l.forward]}
	var backward flowing
	if l.backward >= 0 {
		backward = flowing{earlier.Directions[l.backward], later.Directions[l.backward]}
	}
	if !forward.drawable(took) || l.backward >= 0 && !backward.drawable(took) {
		return nil, false
	}
	entry := object{
		{"0", l.port(forward, backward, took, l.lines[0])},
		{"1", l.port(backward, forward, took, l.lines[1])},
		{"total", l.port(sumOf(forward, backward), sumOf(forward, backward), took, l.lines[0]+l.lines[1])},
	}
	global := object{{"queue_full", later.QueueFull}}
	if later.CPUPercent >= 0 {
		global = append(object{{"cpu_util", decimal(later.CPUPercent)}}, global...)
	}
	return append(entry, member{"global", global}), true
}

// flowing is a direction between two readings.
type flowing struct{ earlier, later report.SampleDirection }

func (f flowing) sent() units.Traffic     { return f.later.Sent.Sub(f.earlier.Sent) }
func (f flowing) returned() units.Traffic { return f.later.Returned.Sub(f.earlier.Returned) }

// drawable says that the viewer can divide by what was sent, and that no counter went backwards.
func (f flowing) drawable(took time.Duration) bool {
	return perSecond(f.sent().Packets, took) > 0 && f.returned().Packets >= 0
}

// sumOf adds two directions.
func sumOf(a, b flowing) flowing {
	sum := func(a, b report.SampleDirection) report.SampleDirection {
		return report.SampleDirection{Sent: a.Sent.Add(b.Sent), Returned: a.Returned.Add(b.Returned),
			ReceiveErrors: a.ReceiveErrors + b.ReceiveErrors}
	}
	return flowing{earlier: sum(a.earlier, b.earlier), later: sum(a.later, b.later)}
}

// port is a port's statistics under TRex's names. It sends the one direction and receives the other.
func (l lane) port(sends, receives flowing, took time.Duration, line units.BitRate) object {
	tx, rx := sends.sent(), receives.returned()
	return object{
		{"opackets", sends.later.Sent.Packets}, {"ipackets", receives.later.Returned.Packets},
		{"obytes", sends.later.Sent.Bytes}, {"ibytes", receives.later.Returned.Bytes},
		{"ierrors", receives.later.ReceiveErrors},
		{"tx_pps", perSecond(tx.Packets, took)}, {"tx_bps", perSecond(tx.Layer2Bits(), took)},
		{"tx_bps_L1", perSecond(tx.Layer1Bits(), took)}, {"tx_util", utilisation(tx, took, line)},
		{"rx_pps", perSecond(rx.Packets, took)}, {"rx_bps", perSecond(rx.Layer2Bits(), took)},
		{"rx_bps_L1", perSecond(rx.Layer1Bits(), took)}, {"rx_util", utilisation(rx, took, line)},
	}
}

func perSecond(n int64, took time.Duration) decimal {
	return decimal(math.Round(float64(n)/took.Seconds()*1000) / 1000)
}

// utilisation is the share of a line rate in percent.
func utilisation(t units.Traffic, took time.Duration, line units.BitRate) decimal {
	return decimal(math.Round(float64(t.Layer1Bits())/took.Seconds()/float64(line)*100*1e6) / 1e6)
}

// member is one member of an object whose members have an order.
type member struct {
	key   string
	value any
}

// object is a JSON object in the order of its members, since encoding/json would sort a map.
type object []member

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(m.key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// decimal is a number that always has a decimal point. A reader that divides two numbers without one may divide
// whole numbers and throw away the rest, and then a loss of 5 % becomes none.
type decimal float64

// MarshalJSON writes 1000 as 1000.0.
func (d decimal) MarshalJSON() ([]byte, error) {
	s := strconv.FormatFloat(float64(d), 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return []byte(s), nil
}
