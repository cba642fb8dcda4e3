package measure

import (
	"cmp"
	"math/bits"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// edgeFrames is how many frames of each generator the two edges may cut between their sending and their return, one
// at each edge, however exact the times of the readings are.
const edgeFrames = 2

// figures are one direction's counters over one span, added up over the generators, each over its own time.
type figures struct {
	direction Direction
	setup     Setup
	intended  units.PacketRate
	longest   time.Duration // between a generator's first and last reading
	sending   time.Duration // of a trial, the longest of its ports
	planned   time.Duration // of a trial that went to its end, the planned time of sending

	sent, returned units.Traffic
	receiveErrors  int64
	sendDrops      int64
	damaged        int64
	offered        rates
	received       rates
	// mostOffered is the rate if the edges' uncertainty is all in the generator's favour.
	mostOffered units.PacketRate
	// edges is how many frames may be on the wrong side of an edge. disturbed is how many may have been lost as the
	// carrying threads waited. waited is for how long the sending threads waited, of several ports at the one that
	// waited longest.
	edges, disturbed int64
	waited           time.Duration
	// heldUp says that others had the processors of the threads that send.
	heldUp bool
	// foreign is how many frames of other people's may be among those that came back.
	foreign int64
	// burst is the frames that were to be sent, and how long that took. It is nil where the span is no burst.
	burst *report.SentBurst
	// shares are the pairs' parts.
	shares []share
}

// rates are a flow before it is rounded for the document.
type rates struct {
	packets        units.PacketRate
	layer1, layer2 units.BitRate
}

// figures adds up direction i over its pairs. Without sound readings it has the intended rate alone.
func (s Setup) figures(d Direction, span Span, i int, sound bool) figures {
	f := figures{direction: d, setup: s, planned: span.plannedSending()}
	f.intended = span.intended(i)
	asked := parts(d.Pairs, f.intended)
	for n, p := range d.Pairs {
		if sound {
			f.add(p, span, asked[n])
		}
	}
	if sound && i < len(span.Bursts) {
		f.ofBurst(span.burst(d, i))
	}
	f.foreign = f.foreignFrames()
	f.addDisturbance(span.Disturbance)
	f.heldUp = f.wasHeldUp(worthReporting(span.Disturbance), busiest(span.Readings), len(s.Directions))
	return f
}

// add takes in one pair. Each of its ends is counted over its own time, and at any moment within its reading's
// uncertainty. Even where one reading has both, the sender's counter may be from its beginning and the receiver's
// from its end. If the two are different machines, their windows differ by a moment besides. All that passed in
// these moments may be on either side of the edge, as drawn:
//
//	sender   ├───────── took ─────────┤
//	receiver   ├──────── tookBack ───────┤   unsure: the difference of the two, and all four uncertainties
func (f *figures) add(p Pair, span Span, asked units.PacketRate) {
	first, last := edgesOf(span.Readings[p.Generator])
	firstBack, lastBack := edgesOf(span.Readings[p.Receiver])
	took, tookBack := last.Instant-first.Instant, lastBack.Instant-firstBack.Instant
	f.longest = max(f.longest, took, tookBack)
	sent := f.direction.OfLoad(last.Ports[p.Send].Sent.Sub(first.Ports[p.Send].Sent))
	returned := f.direction.OfLoad(lastBack.Ports[p.Receive].Received.Sub(firstBack.Ports[p.Receive].Received))
	doubt := first.Uncertainty + last.Uncertainty
	unsure := scale(sent.Packets, int64(doubt), int64(took))
	difference := max(took-tookBack, tookBack-took)
	edges := edgeFrames + scale(sent.Packets, int64(doubt+firstBack.Uncertainty+lastBack.Uncertainty+difference),
		int64(took))
	if span.Sending > 0 { // nothing passed while either edge was read
		took, unsure = span.sendingOf(p, asked)
		tookBack, edges = took, 0
		f.sending = max(f.sending, took)
	}
	f.sent, f.returned = f.sent.Add(sent), f.returned.Add(returned)
	f.receiveErrors += lastBack.Ports[p.Receive].ReceiveErrors - firstBack.Ports[p.Receive].ReceiveErrors
	f.damaged += lastBack.Ports[p.Receive].Damaged - firstBack.Ports[p.Receive].Damaged
	f.sendDrops += last.Ports[p.Send].SendDrops - first.Ports[p.Send].SendDrops
	f.waited = max(f.waited, waitedToSend(first.Ports[p.Send], last.Ports[p.Send]))
	f.offered.add(sent, took)
	f.received.add(returned, tookBack)
	f.mostOffered += units.PacketRateOver(sent.Packets+unsure+1, int64(max(took, span.plannedSending())))
	f.edges += edges
	f.shares = append(f.shares, share{pair: p, sent: sent.Packets, returned: returned.Packets, edges: edges,
		offered: units.PacketRateOver(sent.Packets, int64(took)), received: units.PacketRateOver(returned.Packets,
			int64(tookBack))})
}

func (r *rates) add(t units.Traffic, took time.Duration) {
	r.packets += units.PacketRateOver(t.Packets, int64(took))
	r.layer1 += units.BitRateOver(t.Layer1Bits(), int64(took))
	r.layer2 += units.BitRateOver(t.Layer2Bits(), int64(took))
}

func (r rates) flow() report.Flow {
	return report.Flow{PacketsPerSecond: r.packets.Whole(), Layer1BitsPerSecond: int64(r.layer1),
		Layer2BitsPerSecond: int64(r.layer2)}
}

// FlowOf is a packet rate of traffic of this composition in all three units.
func FlowOf(rate units.PacketRate, mix units.Traffic) report.Flow {
	return rates{rate, rate.Layer1(mix), rate.Layer2(mix)}.flow()
}

// ownSending is for how long the frames of a trial were sent, where that differs from the planned time. Otherwise
// it is 0.
func (f *figures) ownSending() plan.Duration {
	if f.planned == 0 || f.sending == f.planned {
		return 0
	}
	return plan.Duration(f.sending)
}

// length is a window's length, which is the planned one of a trial that went to its end, and else the time that
// rates are over.
func (f *figures) length() plan.Duration {
	if f.planned > 0 && f.sending > 0 {
		return plan.Duration(f.planned)
	}
	return f.duration()
}

// duration is what rates are over.
func (f *figures) duration() plan.Duration { return plan.Duration(cmp.Or(f.sending, f.longest)) }

// addDisturbance says how many frames a disturbance may have cost. For how long senders waited stays where that
// depends on it, and where less was offered than asked for.
func (f *figures) addDisturbance(d *report.Disturbance) {
	f.disturbed = f.disturbedIn(d, f.duration().Std())
	if (f.disturbed == 0 || d.Missing != "") && !f.underOffered() {
		f.waited = 0
	}
}

// underOffered is report.Direction.UnderOffered, before rates are rounded.
func (f *figures) underOffered() bool {
	return scale(int64(f.offered.packets), 100, 1) < scale(int64(f.intended), 99, 1)
}

// wasHeldUp says that less was offered than asked for, and that at least half of what is missing fell due while other
// programs, or the host of a virtual machine, had the processors of the threads that send. Where nobody can tell who
// ran meanwhile, a wait for the port's neighbours, which are as busy as the generator's processors are, is left out.
//
//	offered  ▔▔▔▔▁▁▁▔▔▔▔▔▁▁▁▔▔▔▁▁▔▔▔▔
//	waited       ███     ███   ██         by others: the machine   by itself, or not at all: the generator
func (f *figures) wasHeldUp(d *report.Disturbance, percent float64, directions int) bool {
	if !f.underOffered() || f.intended <= 0 {
		return false
	}
	window, waited := f.duration().Std(), f.waited
	missing := window - time.Duration(scale(int64(window), int64(f.offered.packets), int64(f.intended)))
	switch {
	case d == nil:
		neighbours := float64(max(0, directions-1)) * max(0, percent) / 100
		waited -= time.Duration(neighbours * float64(window))
	case d.Missing == "":
		waited = min(waited, d.Strangers.Std()) + d.Stolen.Std()
	}
	return waited > 0 && 2*waited >= missing
}

// disturbedIn is how many frames a disturbance may have cost if they were sent in a window that lasted so long.
func (f *figures) disturbedIn(d *report.Disturbance, window time.Duration) int64 {
	// a Report without evidence has it to a whole packet
	asked := units.PacketRate(f.intended.Whole()+1) * units.PacketPerSecond
	for _, p := range f.direction.Pairs {
		asked += p.Extra
	}
	return f.setup.disturbedFrames(d, sender{frames: f.sent.Packets, window: window, waited: f.waited, asked: asked})
}

// lost is the number of sent frames that did not come back. Below zero, more came back than was sent.
func (f *figures) lost() int64 { return f.sent.Packets - f.returned.Packets }

// surelyLost is the part of lost that is the device's in any case, without what the generator itself dropped, and
// what the edges or a disturbance may explain. Where more came back than was sent it is the surplus, as lost is.
func (f *figures) surelyLost() int64 {
	return surelyLostOf(f.lost(), f.receiveErrors+f.sendDrops, f.edges+f.disturbed)
}

// mostLost is how many frames may have been lost at most. An edge may have cut off as many on the way out as on the
// way back, and each frame of others may have taken the place of a lost one.
func (f *figures) mostLost() int64 { return f.lost() + f.edges + f.foreign }

// mostLostRatio is mostLost as a share, rounded up so that one frame of billions still counts. It is 0 where
// LossRatio is the same.
func (f *figures) mostLostRatio() units.Ratio {
	return mostRatio(f.lost(), f.mostLost(), f.sent.Packets)
}

// mostRatio is the share that may be lost at most, rounded up. It is 0 where it equals the lost share.
func mostRatio(lost, mostLost, sent int64) units.Ratio {
	if mostLost > lost || units.RatioOf(lost, sent) == 0 {
		return ShareUp(mostLost, sent)
	}
	return 0
}

// ShareUp is part ÷ whole, rounded up, from nothing to all.
func ShareUp(part, whole int64) units.Ratio {
	return min(units.One, units.Ratio(scale(part, int64(units.One), whole)))
}

func surelyLostOf(lost, generatorDrops, edges int64) int64 {
	return min(lost, max(lost-generatorDrops-edges, 0))
}

// hiddenLoss is how much loss the background traffic may have covered up.
func (f *figures) hiddenLoss() int64 { return f.frames(f.direction.Background) }

// strayRate is how many frames of others a port may receive per second before they count as traffic. Neighbour
// discovery and the like arrive now and then.
const strayRate = 2 * units.PacketPerSecond

// foreignFrames is how many frames of others may be among those that came back, which is as many as arrived while
// nothing was sent. If at least as many extra frames came back in a trial, there were more of them than in the
// short silence, and their number is unknown. It is not taken to be the surplus itself, because then not one frame
// could be lost, however many are.
func (f *figures) foreignFrames() int64 {
	heard := f.direction.Background + f.direction.Strays
	if surplus := -f.lost(); f.sending > 0 && surplus > 0 && surplus >= f.frames(heard) {
		heard = max(2*heard, strayRate*units.PacketRate(len(f.direction.Pairs)))
	}
	return f.frames(heard)
}

// frames is how many frames of a rate fit into the span, rounded up.
func (f *figures) frames(rate units.PacketRate) int64 {
	return scale(int64(rate), int64(f.longest), int64(time.Second)*int64(units.PacketPerSecond))
}

// evidence is what judging the direction needs beside its part of the document, without what its pace showed.
func (f *figures) evidence() report.DirectionEvidence {
	return report.DirectionEvidence{Intended: f.intended, Offered: f.offered.packets, MostOffered: f.mostOffered,
		Background: f.direction.Background, Hidden: f.hiddenLoss(), Foreign: f.foreign, Surplus: f.surplus(),
		AboveLimit: f.aboveLimit()}
}

// measured is the direction's part of the document, unjudged.
func (f *figures) measured() report.Direction {
	received := f.received.flow()
	return report.Direction{
		From: f.direction.From, To: f.direction.To,
		Intended: FlowOf(f.intended, f.direction.Mix), Offered: f.offered.flow(), Received: received,
		Sent: f.sent, Returned: f.returned, ReceiveErrors: f.receiveErrors, SendDrops: f.sendDrops,
		DamagedFrames: f.damaged, EdgeFrames: f.edges, DisturbedFrames: f.disturbed,
		SendersWaited: plan.Duration(f.waited), HeldUp: f.heldUp,
		Sending:         f.ownSending(),
		MiscountedBytes: f.miscounted(), ResizedBytes: f.resized(), Burst: f.burst,
		LossRatio:       units.RatioOf(f.lost(), f.sent.Packets),
		LossRatioMin:    units.RatioOf(f.surelyLost(), f.sent.Packets),
		LossRatioMax:    f.mostLostRatio(),
		LineRatePercent: units.PercentOf(received.Layer1BitsPerSecond, int64(f.direction.LineRate)),
	}
}

// scale is v × n ÷ d, rounded up. It is 0 where there is nothing to scale. A result that does not fit is the
// largest int64.
func scale(v, n, d int64) int64 {
	if v <= 0 || n <= 0 || d <= 0 {
		return 0
	}
	const limit = 1<<63 - 1
	hi, lo := bits.Mul64(uint64(v), uint64(n))
	lo, carry := bits.Add64(lo, uint64(d-1), 0)
	hi += carry
	if hi >= uint64(d) {
		return limit
	}
	q, _ := bits.Div64(hi, lo, uint64(d))
	return int64(min(q, limit))
}
