package datapath

import (
	"errors"
	"fmt"
	"math"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine/softgen/fieldengine"
	"github.com/linerate-dev/linerate/internal/units"
)

// track is a stream ready to play.
type track struct {
	id           uint32
	selfStart    bool
	silent       bool // a stream without frames, which delays the next one of its chain
	singleThread bool // played by one thread
	fixedRate    bool // the factor doesn't apply
	program      *fieldengine.Program
	flow         *flowMark
	perSecond    float64 // frames per second at factor 1
	wait         float64 // before the first frame, in nanoseconds
	pause        float64
	burst        uint64
	total        uint64
	loops        uint32
	next         *track

	prebuilt []piece // the frames of a short period
	sequence uint32  // of a stream with stamps, which one thread sends
}

func (t *track) gap(factor float64) float64 {
	if t.fixedRate {
		factor = 1
	}
	return 1e9 / (t.perSecond * factor)
}

func (t *track) timeline(start, factor float64) timeline {
	return timeline{gap: t.gap(factor), pause: t.pause, burst: t.burst, total: t.total, anchorDue: start}
}

// streamFlags are the bits of a stream's flags.
const (
	flagSourceFromPacket      = 1 << 0
	flagDestinationMask       = 3 << 1
	flagDestinationFromPacket = 1 << 1
	flagNull                  = 1 << 3
)

// compiler makes tracks of a port's streams.
type compiler struct {
	source, nextHop [6]byte
	speed           units.BitRate
}

// compile checks all streams of a run and links their chains. It keeps the streams' order, and leaves disabled
// ones out.
func (c compiler) compile(streams []RunStream) ([]*track, error) {
	var tracks []*track
	byID := map[uint32]*track{}
	for _, s := range streams {
		if !s.Stream.Enabled {
			continue
		}
		t, err := c.track(s)
		if err != nil {
			return nil, fmt.Errorf("stream %d: %w", s.ID, err)
		}
		tracks, byID[s.ID] = append(tracks, t), t
	}
	if err := chain(streams, byID); err != nil {
		return nil, err
	}
	return tracks, reachable(tracks)
}

func (c compiler) track(s RunStream) (*track, error) {
	template, err := c.address(s.Stream)
	if err != nil {
		return nil, err
	}
	flow, err := mark(template, s.Stream.FlowStats)
	if err != nil {
		return nil, err
	}
	program, err := fieldengine.Compile(template, s.Stream.VM, uint64(s.Stream.RandomSeed))
	if err != nil {
		return nil, err
	}
	t := &track{id: s.ID, selfStart: s.Stream.SelfStart && !s.Stream.StartPaused, silent: s.Stream.Flags&flagNull != 0,
		program: program,
		flow:    flow, loops: s.Stream.ActionCount, wait: s.Stream.ISG * 1e3}
	if flow != nil && flow.stamped && !flow.latency && program.Trims() {
		return nil, errors.New("its frames vary in length (trim_pkt_size), and a short one may have no room for " +
			"a stamp: leave stamped out")
	}
	t.fixedRate = flow != nil && flow.latency
	t.singleThread = flow != nil && flow.stamped
	if t.perSecond, err = c.framesPerSecond(s.Stream.Mode.Rate, program.MeanLength()); err != nil {
		return nil, err
	}
	return t, t.shape(s.Stream.Mode)
}

// address fills in the MACs that the stream leaves to the port.
func (c compiler) address(s stream.Stream) ([]byte, error) {
	if n := len(s.Packet.Binary); n < fieldengine.MinTemplate || n > fieldengine.MaxFrame {
		return nil, fmt.Errorf("bad packet size provided: %d. Should be between %d and %d", n,
			fieldengine.MinTemplate, fieldengine.MaxFrame)
	}
	template := make([]byte, max(len(s.Packet.Binary), fieldengine.MinFrame))
	copy(template, s.Packet.Binary)
	if s.Flags&flagDestinationMask != flagDestinationFromPacket {
		copy(template, c.nextHop[:])
	}
	if s.Flags&flagSourceFromPacket == 0 {
		copy(template[6:], c.source[:])
	}
	return template, nil
}

// framesPerSecond turns a stream's base rate into frames. length is without FCS.
func (c compiler) framesPerSecond(rate stream.Rate, length float64) (float64, error) {
	perFrame := map[string]float64{
		"pps":        1,
		"bps_L2":     (length + units.FCSBytes) * 8,
		"bps_L1":     (length + units.FCSBytes + units.Layer1OverheadBytes) * 8,
		"percentage": (length + units.FCSBytes + units.Layer1OverheadBytes) * 8 * 100,
	}[rate.Type]
	value := rate.Value
	switch {
	case perFrame == 0:
		return 0, fmt.Errorf("rate type '%s' is not one of pps, bps_L1, bps_L2, percentage", rate.Type)
	case rate.Type == "percentage" && c.speed <= 0:
		return 0, fmt.Errorf("a rate of %v %% has no meaning on a port without a speed: give it in packets or "+
			"bits per second", value)
	case rate.Type == "percentage":
		value *= float64(c.speed)
	}
	if result := value / perFrame; result > 0 && !math.IsInf(result, 1) {
		return result, nil
	}
	return 0, fmt.Errorf("rate value should be positive, not %v", rate.Value)
}

// shape sets when frames leave.
func (t *track) shape(m stream.Mode) error {
	switch m.Type {
	case "continuous":
	case "single_burst":
		t.total = uint64(m.TotalPackets)
	case "multi_burst":
		t.burst, t.pause = uint64(m.PacketsPerBurst), m.InterBurstGap*1e3
		t.total = t.burst * uint64(m.Count)
	default:
		return fmt.Errorf("mode '%s' is not one of continuous, single_burst, multi_burst", m.Type)
	}
	if m.Type != "continuous" && t.total == 0 {
		return fmt.Errorf("a %s of no packets", m.Type)
	}
	return nil
}

// chain connects each stream to its successor.
func chain(streams []RunStream, byID map[uint32]*track) error {
	for _, s := range streams {
		t := byID[s.ID]
		if t == nil || s.Stream.NextStreamID < 0 {
			continue
		}
		if t.next = byID[uint32(s.Stream.NextStreamID)]; t.next == nil {
			return fmt.Errorf("error: stream %d goes on to stream %d, which is missing or disabled", s.ID,
				s.Stream.NextStreamID)
		}
		if t.total == 0 {
			return fmt.Errorf("error: stream %d is continuous and can't go on to stream %d", s.ID,
				s.Stream.NextStreamID)
		}
		if t.fixedRate != t.next.fixedRate {
			return fmt.Errorf("error: streams %d and %d form a chain, but only one of them measures latency", s.ID,
				s.Stream.NextStreamID)
		}
	}
	return nil
}

// reachable refuses streams that are started neither by themselves nor by another stream.
func reachable(tracks []*track) error {
	started := map[*track]bool{}
	for _, t := range tracks {
		for link := t; t.selfStart && link != nil && !started[link]; link = link.next {
			started[link] = true
		}
	}
	for _, t := range tracks {
		if !started[t] {
			return fmt.Errorf("error: stream %d is neither started by itself nor by another stream", t.id)
		}
	}
	return nil
}
