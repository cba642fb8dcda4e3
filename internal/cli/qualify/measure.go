package qualify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/device/forwarder"
	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/host/ethtool"
	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/internal/units"
)

// bench measures one direction.
type bench struct {
	sender, receiver Port
	// senderIndex and receiverIndex are the interfaces' numbers.
	senderIndex, receiverIndex int
	window                     time.Duration
	progress                   func(format string, args ...any)
	// random draws limits.
	random *rand.Rand
}

// ErrNoCable is the error of two ports without a cable between them.
var ErrNoCable = errors.New("no cable")

// proofFrames are sent each way to prove the cable.
const proofFrames = 64

// proveCable sends numbered frames from one port to the other. Where none arrives, it says which other ports got as
// many.
func (b bench) proveCable(ctx context.Context) error {
	p, err := openPair(b.sender.Name, b.receiver.Name, datapath.PathPacket, datapath.ReceiveTC)
	if err != nil {
		return err
	}
	start := received()
	arrived, err := p.prove(ctx, proofFrames)
	end := received()
	if err := errors.Join(err, p.close()); err != nil {
		return err
	}
	switch {
	case arrived > proofFrames/2:
		return nil
	case arrived > 0:
		return fmt.Errorf("%w that holds from %s to %s: %d of %d numbered frames arrived: clean or replace it, or "+
			"see what "+
			"else sends there", ErrNoCable, b.sender.Name, b.receiver.Name, arrived, proofFrames)
	}
	return fmt.Errorf("%w from %s to %s: none of %d numbered frames arrived%s: connect the two ports to each other, "+
		"or to "+
		"one switch and VLAN", ErrNoCable, b.sender.Name, b.receiver.Name, proofFrames, otherReceivers(start, end,
		b.sender.Name, b.receiver.Name))
}

// received is how many frames each interface received, by its name.
func received() map[string]int64 {
	counts := map[string]int64{}
	links, _ := netlink.LinkList() // unreadable is none
	for _, l := range links {
		if s := l.Attrs().Statistics; s != nil {
			counts[l.Attrs().Name] = int64(s.RxPackets)
		}
	}
	return counts
}

// otherReceivers names the other ports that received as many frames between two readings.
func otherReceivers(start, end map[string]int64, cabled ...string) string {
	var names []string
	for name, count := range end {
		if !slices.Contains(cabled, name) && name != "lo" && count-start[name] >= proofFrames {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return ", and as many came in at " + strings.Join(names, ", ")
}

// paths are the ways to send, by the values of --path.
var paths = []datapath.Path{datapath.PathLive, datapath.PathXDP, datapath.PathZeroCopy, datapath.PathPacket}

// ratePaths measures how fast each path sends.
func (b bench) ratePaths(ctx context.Context) (measured []Path, err error) {
	for _, name := range paths {
		b.progress("%s→%s: %s at full speed", b.sender.Name, b.receiver.Name, name)
		path, err := b.ratePath(ctx, name)
		if err != nil {
			return measured, fmt.Errorf("%s→%s by %s: %w", b.sender.Name, b.receiver.Name, name, err)
		}
		measured = append(measured, path)
	}
	return measured, nil
}

func (b bench) ratePath(ctx context.Context, name datapath.Path) (path Path, err error) {
	path.Name = string(name)
	p, needsProgram, closeAll, err := b.openPath(name)
	if err != nil {
		path.Refused = refusal(err)
		return path, nil
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	path.NeedsProgram = needsProgram
	if used := p.sender.Info().Path; name == datapath.PathZeroCopy && !strings.Contains(used, "in zero copy") {
		_, reason, _ := strings.Cut(used, "no zero copy: ")
		path.Refused, _, _ = strings.Cut(reason, ")")
		return path, nil
	}
	rates, err := p.load(ctx, b.full(), flowsOfFlood, b.window, 1)
	if err != nil {
		return path, err
	}
	path.SentPacketsPerSecond, path.ReceivedPacketsPerSecond = whole(rates[0].sent), whole(rates[0].received)
	return path, nil
}

// openPath opens the ports for a path. Live frames need an XDP program: on a virtual cable at the far end, which counts
// there then, and for most cards at the sending port.
func (b bench) openPath(name datapath.Path) (p pair, needsProgram bool, closeAll func() error, err error) {
	receive := datapath.ReceiveTC
	if name == datapath.PathLive && b.sender.Driver == "veth" {
		receive = datapath.ReceiveXDP
	}
	if p, err = openPair(b.sender.Name, b.receiver.Name, name, receive); err == nil {
		return p, false, p.close, nil
	}
	if name != datapath.PathLive || b.sender.Driver == "veth" {
		return p, false, nil, err
	}
	helper, errAttach := attachProgram(b.senderIndex, passing, words{})
	if errAttach != nil {
		return p, false, nil, err
	}
	if errLink := awaitCarrier(context.Background(), b.sender.Name, b.receiver.Name); errLink != nil {
		return p, false, nil, errors.Join(err, errLink, helper.close())
	}
	if p, err = openPair(b.sender.Name, b.receiver.Name, name, receive); err != nil {
		return p, false, nil, errors.Join(err, helper.close())
	}
	return p, true, func() error { return errors.Join(p.close(), helper.close()) }, nil
}

// refusal is an error's first line, without what it was about.
func refusal(err error) string {
	first, _, _ := strings.Cut(err.Error(), "\n")
	for _, prefix := range []string{"open ", "send live frames: "} {
		if rest, found := strings.CutPrefix(first, prefix); found {
			first = rest
			if prefix == "open " {
				_, first, _ = strings.Cut(rest, ": ")
			}
		}
	}
	return first
}

// full is the rate of 64-byte frames that fill the link, or more than any path sends where it has no speed.
func (b bench) full() float64 {
	const unlimited = 20e6
	if b.sender.SpeedMbps == 0 {
		return unlimited
	}
	return lineRate(b.sender.SpeedMbps)
}

// lineRate is how many 64-byte frames a link carries in a second.
func lineRate(megabits int64) float64 {
	return float64(megabits) * 1e6 / (8 * (frameLength + units.FCSBytes + units.Layer1OverheadBytes))
}

func whole(perSecond float64) int64 { return int64(math.Round(perSecond)) }

// findClean lowers the load of the path that received most until no frame is lost. It is nil where each load lost some.
func (b bench) findClean(ctx context.Context, measured []Path) (*Clean, error) {
	best := slices.MaxFunc(measured, func(x, y Path) int {
		return int(x.ReceivedPacketsPerSecond - y.ReceivedPacketsPerSecond)
	})
	const first, step, tries = 0.9, 0.7, 12
	perSecond := first * float64(best.ReceivedPacketsPerSecond)
	if perSecond < 1 {
		return nil, nil
	}
	p, _, closeAll, err := b.openPath(datapath.Path(best.Name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = closeAll() }()
	for range tries {
		b.progress("%s→%s: %.0f frames/s, which lose none?", b.sender.Name, b.receiver.Name, perSecond)
		t, err := p.burst(ctx, perSecond, max(100, whole(perSecond*b.window.Seconds())))
		switch {
		case err != nil:
			return nil, err
		case t.lost() == 0 && t.sent > 0:
			return &Clean{Path: best.Name, PacketsPerSecond: whole(perSecond), Frames: t.sent}, nil
		}
		perSecond *= step
	}
	return nil, nil
}

// besideProgram is the path of a load while the receiver has an XDP program. Live frames would need its place.
func (c Clean) besideProgram() datapath.Path {
	if path := datapath.Path(c.Path); path != datapath.PathLive {
		return path
	}
	return datapath.PathXDP
}

// The overload sends eight times as much as the receiver takes, and at least so many frames that its ring is full for
// most of them.
const (
	overloadFactor = 8
	fewestOverload = 20_000
	longestBurst   = 5 * time.Second
)

// overload sends a known number of frames to a receiver that can't take them, and compares what came with what the
// counters show.
func (b bench) overload(ctx context.Context, clean Clean) (_ *Overload, err error) {
	perSecond := float64(clean.PacketsPerSecond) / 2
	frames := int64(max(fewestOverload, overloadFactor*b.receiver.ReceiveRing))
	frames = min(frames, whole(perSecond*longestBurst.Seconds()))
	b.progress("%s→%s: %d frames to a receiver that is too slow for them", b.sender.Name, b.receiver.Name, frames)
	work := time.Duration(overloadFactor / perSecond * float64(time.Second))
	slow, err := attachProgram(b.receiverIndex, working, words{Work: uint64(work)})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, slow.close()) }()
	if b.receiver.Driver == "veth" { // else the sending processor does the receiver's work, and waits for it
		threaded, errThreaded := forwarder.SetThreaded(b.receiver.Name, true)
		if errThreaded != nil {
			return nil, errThreaded
		}
		defer func() {
			_, errRestore := forwarder.SetThreaded(b.receiver.Name, threaded)
			err = errors.Join(err, errRestore)
		}()
	}
	if err := awaitCarrier(ctx, b.sender.Name, b.receiver.Name); err != nil {
		return nil, err
	}
	p, err := openPair(b.sender.Name, b.receiver.Name, clean.besideProgram(), datapath.ReceiveTC)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	start, err := ethtool.Counters(b.receiver.Name)
	if err != nil {
		return nil, err
	}
	t, err := p.burst(ctx, perSecond, frames)
	if err != nil {
		return nil, err
	}
	end, err := ethtool.Counters(b.receiver.Name)
	if err != nil {
		return nil, err
	}
	return judgeOverload(t, start, end), nil
}

// judgeOverload says who counted the frames that were lost. Drivers may count a frame twice, and never more than all.
func judgeOverload(t tally, start, end map[string]uint64) *Overload {
	o := &Overload{Sent: t.sent, Received: t.received, Lost: t.lost()}
	o.CountedByReceiver = min(o.Lost, t.missed)
	o.CountedBySender = min(o.Lost-o.CountedByReceiver, t.refused)
	o.Hidden = o.Lost - o.CountedByReceiver - o.CountedBySender
	for name, count := range end {
		if grown := int64(count - start[name]); o.Hidden > 0 && grown >= o.Hidden*9/10 && grown <= o.Lost*11/10 {
			o.Counters = append(o.Counters, name)
		}
	}
	slices.Sort(o.Counters)
	return o
}

// The limit is drawn between a fiftieth and a fifth of the clean load, so that a busy machine still offers more. Its
// bucket holds what comes in a part of a window. The trials around the reading last longer than a window, so that 1 %
// more than the limit is more than the bucket holds.
const (
	lowestShare    = 0.02
	shareRange     = 10
	burstPart      = 200
	trialWindows   = 1.25
	answerWindows  = 7
	answerFrames   = 800 // more of them at low limits, so that 1 % are some frames
	belowReading   = 0.99
	aboveReading   = 1.01
	fewestPerLimit = 100
)

// drawLimit draws the time between two frames.
func drawLimit(random *rand.Rand, clean int64) time.Duration {
	share := lowestShare * math.Pow(shareRange, random.Float64())
	return time.Duration(float64(time.Second) / max(fewestPerLimit, share*float64(clean)))
}

// answer puts a limit that is drawn at random into the path, and reads it as a test does: by what comes back of too
// much, and by whether a little less is whole, and a little more isn't. Only answer learns the limit, after the
// reading.
func (b bench) answer(ctx context.Context, clean Clean) (_ *Answer, err error) {
	gap := drawLimit(b.random, clean.PacketsPerSecond)
	limiter, err := putLimiter(b.receiverIndex, gap, b.window/burstPart)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, limiter.close()) }()
	if err := awaitCarrier(ctx, b.sender.Name, b.receiver.Name); err != nil {
		return nil, err
	}
	p, err := openPair(b.sender.Name, b.receiver.Name, clean.besideProgram(), datapath.ReceiveTC)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	a, err := b.readLimit(ctx, p, float64(clean.PacketsPerSecond))
	if err != nil {
		return nil, err
	}
	limit := float64(time.Second) / float64(gap)
	a.LimitPacketsPerSecond = whole(limit)
	a.ErrorPercent = math.Round(1e4*(float64(a.ReadPacketsPerSecond)/limit-1)) / 100
	return a, nil
}

// readLimit reads a limit that it doesn't know.
func (b bench) readLimit(ctx context.Context, p pair, clean float64) (*Answer, error) {
	b.progress("%s→%s: a limit drawn at random", b.sender.Name, b.receiver.Name)
	rates, err := p.load(ctx, clean, 1, max(b.window/answerWindows, 50*time.Millisecond), answerWindows)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(rates, func(x, y rate) int { return int(x.received - y.received) })
	median := rates[len(rates)/2]
	a := &Answer{OfferedPacketsPerSecond: whole(median.sent), ReadPacketsPerSecond: whole(median.received)}
	read, lasting := median.received, trialWindows*b.window.Seconds()+answerFrames/max(1, median.received)
	try := func(share float64) (sent, lost int64, err error) {
		t, err := p.burst(ctx, share*read, max(1, whole(share*read*lasting)))
		return t.sent, t.lost(), err
	}
	if err := bounded.Pause(ctx, 2*b.window/burstPart); err != nil { // the bucket is full again
		return nil, err
	}
	if a.SentBelow, a.LostBelow, err = try(belowReading); err != nil {
		return nil, err
	}
	a.SentAbove, a.LostAbove, err = try(aboveReading)
	return a, err
}

// awaitCarrier waits until all ports have a carrier. Cards lose theirs for some seconds when an XDP program comes.
func awaitCarrier(ctx context.Context, ports ...string) error {
	const longest = 15 * time.Second
	patience, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	for _, name := range ports {
		for {
			l, err := netif.Find(name)
			if err != nil {
				return fmt.Errorf("port %s: %w", name, err)
			}
			carrier, err := netif.CarrierOf(l)
			if err != nil {
				return err
			}
			if carrier.Up {
				break
			}
			if bounded.Pause(patience, 20*time.Millisecond) != nil {
				if err := context.Cause(ctx); err != nil {
					return err
				}
				return fmt.Errorf("%w at port %s: it has had no carrier for %v: connect it, and set the far end up",
					ErrNoCable, name, longest)
			}
		}
	}
	return nil
}
