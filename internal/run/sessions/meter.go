package sessions

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/run/iperf3"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// meter reads the counters of all ends, and makes windows of readings.
type meter struct {
	journal    *runner.Journal
	remotes    *remotes
	links      runner.Links
	framesEach map[string]int64 // as the connector found them

	latest   []Reading   // of each end; nil where no window may begin
	latestAt time.Time   // when latest was read
	sent     []sentUntil // the latest readings, the oldest first
	unread   []bool      // by end, whether the Report already notes that its drops are unknown
}

// sentUntil is how many datagrams the streams of each end had sent by a moment. All ends had answered by that moment,
// so all of these datagrams were sent before it.
type sentUntil struct {
	moment time.Time
	sent   [][]int64
}

// read takes a reading of all ends, with these vital signs of their machines.
func (m *meter) read(ctx context.Context, signs []string) error {
	readings, moment := make([]Reading, len(m.remotes.places)), time.Now()
	wanted := readRequest{Processors: m.journal.Plan.Observes(plan.ObserveProcessors), Signs: signs}
	err := m.remotes.forEach(func(i int) error {
		a, err := m.remotes.ask(ctx, i, request{Verb: doRead, Read: &wanted})
		if err != nil {
			return err
		}
		if a.Reading != nil {
			readings[i] = *a.Reading
		}
		if err := readings[i].check(m.journal.Plan.Sessions.Parallel); err != nil {
			return fmt.Errorf("%s: %w", m.remotes.places[i], err)
		}
		readings[i].Asked = signs
		return nil
	})
	if err != nil {
		return err
	}
	m.latest, m.latestAt = readings, moment
	m.countOverdue()
	m.followLinks()
	return nil
}

// countOverdue adds to each end's counters how many datagrams were sent so long ago that those that haven't arrived
// are lost. iperf 2 reports late what it counted. Datagrams that it hasn't reported yet may be lost, and only bound the
// loss (LostAtLeast).
func (m *meter) countOverdue() {
	if m.journal.Plan.Sessions.Application == plan.ApplicationIperf2 {
		return
	}
	current := sentUntil{moment: time.Now(), sent: make([][]int64, len(m.latest))}
	for i, reading := range m.latest {
		if reading.Sending != nil {
			current.sent[i] = reading.Sending.Datagrams // nil for TCP
		}
	}
	m.sent = append(m.sent, current)
	for len(m.sent) > 1 && m.latestAt.Sub(m.sent[1].moment) >= measure.OverdueAfter {
		m.sent = m.sent[1:]
	}
	if earlier := m.sent[0]; m.latestAt.Sub(earlier.moment) >= measure.OverdueAfter {
		for i := range m.latest {
			if s := m.latest[i].Sending; s != nil {
				s.Overdue = earlier.sent[i]
			}
		}
	}
}

// followLinks reports links that are down or change their state while connections send. The device's own end is no
// link's, and the link's end sees the same cable.
func (m *meter) followLinks() {
	for i, reading := range m.latest {
		link := m.remotes.places[i].Link
		g := slices.IndexFunc(m.journal.Plan.Generators,
			func(g plan.Generator) bool { _, ok := g.PortOn(link); return ok })
		if g >= 0 && reading.Drops != nil && reading.Drops.Carrier != nil {
			m.links.Follow(m.journal.Plan.Generators[g].Name, link, runner.LinkSeen{IsUp: reading.Drops.Carrier.Up,
				Changes: reading.Drops.Carrier.Changes, Elapsed: m.latestAt.Sub(m.journal.Started)})
		}
	}
}

// noteUnknownDrops notes once for each end whose drops can't be read.
func (m *meter) noteUnknownDrops() {
	for i, reading := range m.latest {
		if reading.Drops != nil && reading.Drops.Unread != "" && !m.unread[i] {
			m.journal.Note("%s: its own drops are unknown: %s", m.remotes.places[i], reading.Drops.Unread)
			m.unread[i] = true
		}
	}
}

// window is the window that the readings from its first edge to its last make.
// counted is what a server reports, or nil.
func (m *meter) window(readings [][]Reading, opened time.Time, disturbance *report.Disturbance,
	counted *Counted) *report.Window {
	p := m.journal.Plan
	w := &report.Window{Start: plan.Duration(opened.Sub(m.journal.Started)),
		Duration: plan.Duration(m.latestAt.Sub(opened))}
	for _, d := range p.Directions {
		span := measure.SessionSpan{From: d.From, To: d.To, Asked: p.Sessions.BitsPerSecond(p.Procedure),
			Window: w.Duration.Std(), Disturbance: disturbance, SharesKernel: p.DUT.SharesGeneratorsKernel(),
			FramesEach: m.framesEach[d.From], LostAtLeast: p.Sessions.Application == plan.ApplicationIperf2}
		for _, reading := range readings {
			sending, receiving := m.ofDirection(reading, d)
			if sending != nil {
				span.Sending = append(span.Sending, *sending)
			}
			if receiving != nil {
				span.Receiving = append(span.Receiving, *receiving)
			}
		}
		if p.DUT.Server != nil {
			span.Server, span.Device = serverText(p.DUT.Server), &measure.EndSpan{Link: plan.DeviceEnd}
			span.LostAtLeast = reportsAtEnd(p) && d.To == plan.DeviceEnd
		}
		if counted != nil && d.To == plan.DeviceEnd {
			span.Sending, span.Receiving = counted.span()
		}
		for _, link := range []string{d.From, d.To} {
			i := m.remotes.index(link)
			if i < 0 {
				continue // the device's, which is a server
			}
			opening, closing := readings[0][i], readings[len(readings)-1][i]
			end := measure.EndSpan{Link: m.remotes.places[i].Link, First: opening.Drops, Last: closing.Drops,
				WaitsFirst: opening.Waits, WaitsLast: closing.Waits, Directions: m.directionsOf(closing.Waits)}
			if end.Link == plan.DeviceEnd {
				span.Device = &end
				continue
			}
			span.Ends = append(span.Ends, end)
		}
		w.Directions = append(w.Directions, measure.Sessions(span))
	}
	return w
}

// ofDirection is what a direction had sent and received by a reading of all ends.
func (m *meter) ofDirection(reading []Reading, d plan.Direction) (*measure.Sending, *measure.Receiving) {
	if m.journal.Plan.DUT.Server != nil {
		return atServer(reading[0], d, m.journal.Plan.Sessions.MessageBytes)
	}
	return reading[m.remotes.index(d.From)].Sending, reading[m.remotes.index(d.To)].Receiving
}

// directionsOf is how many directions have an end in the program whose waits these are. One program may hold several
// ends.
func (m *meter) directionsOf(program *measure.Waits) (n int) {
	inProgram := func(link string) bool {
		i := m.remotes.index(link)
		if i < 0 {
			return false
		}
		w := m.latest[i].Waits
		return w != nil && program != nil && w.Program == program.Program
	}
	for _, d := range m.journal.Plan.Directions {
		if inProgram(d.From) || inProgram(d.To) {
			n++
		}
	}
	return n
}

// broken is the error of a broken connection, or nil if all connections are open.
func (m *meter) broken() error {
	for i, reading := range m.latest {
		words := ""
		if reading.Sending != nil {
			words = reading.Sending.Broken
		}
		if reading.Receiving != nil {
			words = cmp.Or(words, reading.Receiving.Broken)
		}
		if s := m.journal.Plan.DUT.Server; s != nil && (strings.Contains(words, iperf3.ErrGone.Error()) ||
			strings.Contains(words, "ended the test")) {
			return fmt.Errorf("%s; windows measured before that are kept: see whether %s was stopped, then start it again",
				words, serverText(s))
		}
		if words != "" {
			return fmt.Errorf("%s: a connection broke: %s; windows measured before that are kept", m.remotes.places[i],
				words)
		}
	}
	return nil
}
