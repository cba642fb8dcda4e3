package qualify

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/units"
)

// A qualification's frames are the smallest: UDP over IPv4 between two of RFC 2544's addresses, which no test of
// linerate's uses by default.
const (
	frameLength  = 60 // without FCS
	sourceOffset = 26
	portOffset   = 34
	numberOffset = 42
	flowsOfFlood = 64
)

var source, destination = [4]byte{198, 18, 250, 1}, [4]byte{198, 18, 251, 1}

// sourceWord is the source address as a program of the kernel loads it.
func sourceWord() int32 { return int32(binary.NativeEndian.Uint32(source[:])) }

// frame is a frame from one port to the other, with a number in its payload.
func frame(sourceMAC, destinationMAC [6]byte, number uint32) []byte {
	f := make([]byte, frameLength)
	copy(f, destinationMAC[:])
	copy(f[6:], sourceMAC[:])
	copy(f[12:], []byte{0x08, 0x00, 0x45, 0, 0, frameLength - 14, 0, 0, 0x40, 0, 64, 17})
	copy(f[sourceOffset:], source[:])
	copy(f[sourceOffset+4:], destination[:])
	binary.BigEndian.PutUint16(f[portOffset:], 1024)
	binary.BigEndian.PutUint16(f[portOffset+2:], 9) // discard
	binary.BigEndian.PutUint16(f[portOffset+4:], frameLength-portOffset)
	binary.BigEndian.PutUint32(f[numberOffset:], number)
	binary.BigEndian.PutUint16(f[24:], ^stream.FoldChecksum(stream.SumWords(f[14:34])))
	return f
}

// streamOf sends frames at a rate: total frames, or endlessly for 0. Many flows reach all of a card's receive queues.
func streamOf(sourceMAC, destinationMAC [6]byte, perSecond float64, total uint32,
	flows uint64) datapath.RunStream {
	s := stream.Stream{Enabled: true, SelfStart: true, Flags: 3, CoreID: -1, NextStreamID: -1,
		Mode:   stream.Mode{Type: "continuous", Rate: stream.Rate{Type: "pps", Value: perSecond}},
		Packet: stream.Packet{Binary: frame(sourceMAC, destinationMAC, 0)}}
	if total > 0 {
		s.Mode.Type, s.Mode.TotalPackets = "single_burst", total
	}
	if flows > 1 {
		s.VM.Instructions = []stream.Instruction{
			{Type: "flow_var", Name: "flow", Size: 2, Op: "inc", InitValue: 1024, MinValue: 1024, MaxValue: 1023 +
				flows, Step: 1},
			{Type: "write_flow_var", Name: "flow", PacketOffset: portOffset, BigEndian: true},
		}
	}
	return datapath.RunStream{ID: 1, Stream: s}
}

// pair is the two open ports of a direction.
type pair struct {
	sender, receiver datapath.Port
}

// openPair opens both ports. The receiver counts where it does in a test.
func openPair(sender, receiver string, path datapath.Path, receive datapath.ReceivePath) (p pair, err error) {
	if p.receiver, err = datapath.Open(datapath.Options{Interface: receiver, Path: datapath.PathPacket,
		Receive: receive}); err != nil {
		return p, err
	}
	if p.sender, err = datapath.Open(datapath.Options{Interface: sender, Path: path}); err != nil {
		return p, errors.Join(err, p.receiver.Close())
	}
	return p, nil
}

func (p pair) close() error { return errors.Join(p.sender.Close(), p.receiver.Close()) }

func (p pair) stream(perSecond float64, total uint32, flows uint64) []datapath.RunStream {
	return []datapath.RunStream{streamOf(p.sender.Info().MAC, p.receiver.Info().MAC, perSecond, total, flows)}
}

// settling is how long a load runs before it is measured.
const settling = 300 * time.Millisecond

// rate is what was sent and received each second.
type rate struct{ sent, received float64 }

// load sends at a rate and reads the counters over windows that follow each other.
func (p pair) load(ctx context.Context, perSecond float64, flows uint64, window time.Duration,
	windows int) (rates []rate, err error) {
	if err := p.sender.Start(datapath.Run{Streams: p.stream(perSecond, 0, flows), Factor: 1}); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.sender.Stop()) }()
	if err := bounded.Pause(ctx, settling); err != nil {
		return nil, err
	}
	sent, received := p.sender.Counters(), p.receiver.Counters()
	for range windows {
		if err := bounded.Pause(ctx, window); err != nil {
			return nil, err
		}
		nextSent, nextReceived := p.sender.Counters(), p.receiver.Counters()
		rates = append(rates, rate{perSecondOf(sent.Sent, nextSent.Sent, nextSent.ReadAt-sent.ReadAt),
			perSecondOf(received.Received, nextReceived.Received, nextReceived.ReadAt-received.ReadAt)})
		sent, received = nextSent, nextReceived
	}
	return rates, nil
}

func perSecondOf(a, b units.Traffic, took time.Duration) float64 {
	return float64(b.Packets-a.Packets) / took.Seconds()
}

// tally is what became of a known number of frames.
type tally struct {
	sent, received int64
	// refused are frames of sent that the sending port or, on a virtual cable, the far end's queue dropped. missed are
	// frames that the receiving port counted as dropped.
	refused, missed int64
}

func (t tally) lost() int64 { return max(0, t.sent-t.received) }

// burst sends a number of frames, and waits until nothing more of them comes.
func (p pair) burst(ctx context.Context, perSecond float64, frames int64) (t tally, err error) {
	startSent, startReceived := p.sender.Counters(), p.receiver.Counters()
	if err := p.sender.Start(datapath.Run{Streams: p.stream(perSecond, uint32(frames), 1), Factor: 1}); err != nil {
		return t, err
	}
	select {
	case <-p.sender.Done():
	case <-ctx.Done():
	}
	if err := errors.Join(p.sender.Stop(), context.Cause(ctx)); err != nil {
		return t, err
	}
	if err := p.drain(ctx); err != nil {
		return t, err
	}
	endSent, endReceived := p.sender.Counters(), p.receiver.Counters()
	return tally{sent: endSent.Sent.Packets - startSent.Sent.Packets,
		received: endReceived.Received.Packets - endReceived.Strays.Packets - startReceived.Received.Packets +
			startReceived.Strays.Packets,
		refused: endSent.SendDrops + endSent.PeerFull - startSent.SendDrops - startSent.PeerFull,
		missed:  endReceived.ReceiveErrors - startReceived.ReceiveErrors}, nil
}

// drain waits until the receiver's counters have stood still for a while, for two seconds at most.
func (p pair) drain(ctx context.Context) error {
	const still, longest = 100 * time.Millisecond, 2 * time.Second
	latest, changed := p.receiver.Counters(), time.Now()
	for begin := changed; time.Since(changed) < still && time.Since(begin) < longest; {
		if err := bounded.Pause(ctx, still/10); err != nil {
			return err
		}
		if next := p.receiver.Counters(); next.Received != latest.Received ||
			next.ReceiveErrors != latest.ReceiveErrors {
			latest, changed = next, time.Now()
		}
	}
	return nil
}

// prove sends numbered frames and counts those that arrive.
func (p pair) prove(ctx context.Context, frames int) (arrived int, err error) {
	numbers, captured := map[uint32]bool{}, make(chan uint32, frames)
	stop, err := p.receiver.Capture(func(f datapath.Frame) {
		if b := f.Bytes; !f.Sent && len(b) >= numberOffset+4 && [4]byte(b[sourceOffset:sourceOffset+4]) == source {
			select {
			case captured <- binary.BigEndian.Uint32(b[numberOffset:]):
			default:
			}
		}
	})
	if err != nil {
		return 0, err
	}
	defer stop()
	var list [][]byte
	for number := range frames {
		list = append(list, frame(p.sender.Info().MAC, p.receiver.Info().MAC, uint32(number)))
	}
	if err := p.sender.Inject(list, time.Millisecond); err != nil {
		return 0, fmt.Errorf("send numbered frames: %w", err)
	}
	patience, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	for len(numbers) < frames {
		select {
		case number := <-captured:
			numbers[number] = true
		case <-patience.Done():
			return len(numbers), context.Cause(ctx)
		}
	}
	return len(numbers), nil
}
