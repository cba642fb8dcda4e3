package datapath

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/units"
)

// liveCable is a cable whose west end sends live frames. The east end takes them because its GRO is on.
func liveCable(t *testing.T, west Options) (Port, Port) {
	t.Helper()
	if !initialUser(t) {
		needKernel(t, errors.New("this is a user namespace"), "eBPF")
	}
	addCable(t)
	noError(t, setGRO("west", true))
	noError(t, setGRO("east", true))
	west.Interface, west.Path = "west", PathLive
	a, b := open(t, west), open(t, Options{Interface: "east"})
	if want := "sends by live frames, receives by eBPF"; a.Info().Path != want {
		t.Fatalf("path %q, want %q", a.Info().Path, want)
	}
	return a, b
}

// liveEnds is a cable both ends of which send live frames, in a process that may use this many processors.
func liveEnds(t *testing.T, o Options, processors int) (Port, Port) {
	t.Helper()
	a, b := liveCable(t, o)
	noError(t, b.Close())
	o.Interface, o.Path = "east", PathLive
	b = open(t, o)
	for _, p := range []Port{a, b} {
		p.(*port).cpus = processors
	}
	return a, b
}

// carried checks that the run in progress is sent by live frames.
func carried(t *testing.T, p Port) {
	t.Helper()
	if path := p.Info().Path; !strings.HasPrefix(path, "sends by live frames") {
		t.Fatalf("the run is not sent live: %s", path)
	}
}

func TestLiveFramesOfOneStream(t *testing.T) {
	a, b := liveCable(t, Options{})
	run := runTo(b, 1, continuous(50_000, frame(60)))
	transmitted := transmissions(t, "west")
	t.Run("the counts of sender, interface and receiver agree to the frame", func(t *testing.T) {
		initial, farEnd := a.Counters().Sent, b.Counters()
		transmittedBefore := transmitted()
		noError(t, a.Start(run))
		carried(t, a)
		eventually(t, "frames are counted while it runs",
			func() bool { return a.Counters().Sent.Sub(initial).Packets > 10_000 })
		asked := Now()
		noError(t, a.Stop())
		if took := Now() - asked; took > 500*time.Millisecond {
			t.Errorf("it took %v to stop", took)
		}
		sent := a.Counters().Sent.Sub(initial)
		arrived(t, b, farEnd, sent)
		if got := transmitted() - transmittedBefore; got != sent.Packets {
			t.Errorf("the interface sent %d frames, we %d", got, sent.Packets)
		}
		final := a.Counters().Sent
		sleep(50 * time.Millisecond)
		if got := a.Counters().Sent; got != final || transmitted()-transmittedBefore != sent.Packets {
			t.Errorf("%v sent after the stop", got.Sub(final))
		}
	})
	for _, perSecond := range []float64{1000, 20_000, 100_000} {
		t.Run(fmt.Sprintf("%v frames a second are kept by the program's counters", perSecond), func(t *testing.T) {
			earlier := a.Counters()
			timed := run
			timed.Factor, timed.Duration = perSecond/50_000, 500*time.Millisecond
			noError(t, a.Start(timed))
			carried(t, a)
			finish(t, a)
			noError(t, a.Stop())
			c := a.Counters()
			want := perSecond / 2
			if got := float64(c.Sent.Packets - earlier.Sent.Packets +
				c.Behind - earlier.Behind); math.Abs(got-want) > 2 {
				t.Errorf("%v frames, %d of them given up, want %v", got, c.Behind-earlier.Behind, want)
			}
		})
	}
	t.Run("a burst ends by itself", func(t *testing.T) {
		initial, farEnd := a.Counters().Sent, b.Counters()
		noError(t, a.Start(runTo(b, 1, burst(800, 20_000, frame(61)))))
		carried(t, a)
		finish(t, a)
		noError(t, a.Stop())
		want := units.Traffic{Packets: 800, Bytes: 800 * 65}
		if got := a.Counters().Sent.Sub(initial); got != want {
			t.Errorf("sent %v, want %v", got, want)
		}
		if took := a.Counters().Sending; took < 39*time.Millisecond {
			t.Errorf("800 frames at 20 000 a second took %v", took)
		}
		arrived(t, b, farEnd, want)
	})
	t.Run("a run of bursts is sent by AF_XDP, and the path says so", func(t *testing.T) {
		farEnd := b.Counters()
		s := addressed(burst(1, 1000, frame(60)))
		s.Mode.Type, s.Mode.PacketsPerBurst, s.Mode.Count, s.Mode.InterBurstGap = "multi_burst", 5, 3, 1000
		noError(t, a.Start(Run{Streams: streams(s), Factor: 1, NextHop: macOf(b)}))
		if got, want := a.Info().Path, "sends by AF_XDP (not by live frames: stream 1 sends bursts again and "+
			"again), receives by eBPF"; got != want {
			t.Errorf("path %q, want %q", got, want)
		}
		finish(t, a)
		noError(t, a.Stop())
		arrived(t, b, farEnd, units.Traffic{Packets: 15, Bytes: 15 * 64})
	})
}

func TestLiveOrders(t *testing.T) {
	for name, o := range map[string]Options{"one thread": {}, "two threads": {Cores: 2}} {
		t.Run(name, func(t *testing.T) { liveOrders(t, o) })
	}
}

func liveOrders(t *testing.T, o Options) {
	a, b := liveCable(t, o)
	noError(t, a.Start(runTo(b, 250, continuous(3, frame(60)), continuous(1, frame(100)))))
	carried(t, a)
	for _, factor := range []float64{250, 5000, 125, 1250} {
		keepsLive(t, a, 4*factor, factor)
	}
	noError(t, a.Pause())
	if err := a.Pause(); err == nil {
		t.Error("a pause in a pause went through")
	}
	initial := a.Counters().Sent.Packets
	sleep(50 * time.Millisecond)
	if got := a.Counters().Sent.Packets - initial; got != 0 {
		t.Errorf("%v packets in a pause", got)
	}
	noError(t, a.Resume())
	keepsLive(t, a, 5000, 1250)
	noError(t, a.Stop())
}

// keepsLive is keeps for live frames, whose orders are carried out when they return.
func keepsLive(t *testing.T, p Port, perSecond, factor float64) {
	t.Helper()
	keepsWithin(t, p, perSecond, factor, 0.01, 20, func() {})
}

// TestLiveFramesAreTheSame compares the frames of a run by live frames with those of the same run by AF_XDP,
// stream by stream.
func TestLiveFramesAreTheSame(t *testing.T) {
	for name, o := range map[string]Options{"one thread": {}, "two threads": {Cores: 2}} {
		t.Run(name, func(t *testing.T) {
			a, b := liveCable(t, o)
			liveFramesAreTheSame(t, a, b)
		})
	}
	t.Run("a thread that sends other frames on another port", func(t *testing.T) {
		a, b := liveEnds(t, Options{}, 2)
		noError(t, b.Start(runTo(a, 1, continuous(5000, frame(700)))))
		liveFramesAreTheSame(t, a, b)
		noError(t, b.Stop())
		arrived(t, a, Counters{}, b.Counters().Sent)
	})
}

func liveFramesAreTheSame(t *testing.T, a, b Port) {
	t.Helper()
	run := Run{Streams: variedStreams(), Factor: 1, NextHop: macOf(b)}
	live := capturedBy(t, a, b, run, true)
	a.(*port).options.Path = PathXDP
	user := capturedBy(t, a, b, run, false)
	for _, s := range run.Streams {
		got, want := live[s.ID], user[s.ID]
		if len(got) != len(want) || len(want) != int(s.Stream.Mode.TotalPackets) {
			t.Fatalf("stream %d: %d frames live, %d otherwise, want %d", s.ID, len(got), len(want),
				s.Stream.Mode.TotalPackets)
		}
		if a.(*port).options.Cores > 1 { // threads that share a stream are not in step, but each frame is once in both
			got, want = inOrder(got), inOrder(want)
		}
		for i := range want {
			if !bytes.Equal(got[i], want[i]) {
				t.Fatalf("stream %d, frame %d:\n got % x\nwant % x", s.ID, i, got[i], want[i])
			}
		}
	}
}

// variedStreams are finite streams of many kinds. The TTL or hop limit names the stream of each frame.
func variedStreams() []RunStream {
	field := func(op string, low, high uint64, offset int) []stream.Instruction {
		return []stream.Instruction{{Type: "flow_var", Name: "v", Size: 4, Op: op, InitValue: low, MinValue: low,
			MaxValue: high, Step: 1},
			{Type: "write_flow_var", Name: "v", PacketOffset: offset, BigEndian: true}, {Type: "fix_checksum_ipv4",
				PacketOffset: 14}}
	}
	six := make([]byte, 100)
	copy(six[12:], []byte{0x86, 0xdd, 0x60, 0, 0, 0, 0, 46, 17, 64})
	long := frame(1514)
	for i := 42; i < len(long); i++ {
		long[i] = byte(i * 7)
	}
	list := []stream.Stream{
		burst(300, 3000, frame(60)),
		burst(200, 2000, frame(61)),
		burst(100, 1000, long),
		burst(200, 2000, six),
		burst(200, 2000, frame(590)),
		burst(200, 2000, frame(128)),
	}
	list[0].VM.Instructions = field("inc", 0x10000001, 0x100000fe, 26)
	list[1].VM.Instructions = field("random", 0x10000001, 0x1000ffff, 30)
	list[4].VM.Instructions = append(field("dec", 0x10000001, 0x100000ff, 26),
		stream.Instruction{Type: "flow_var", Name: "l", Size: 2, Op: "inc", InitValue: 60, MinValue: 60, MaxValue: 590,
			Step: 1}, stream.Instruction{Type: "trim_pkt_size", Name: "l"})
	listed := field("inc", 0, 0, 26)
	listed[0].ValueList = []uint64{0x10000005, 0x10000003, 0x10000007}
	list[5].VM.Instructions = append(listed, stream.Instruction{Type: "fix_checksum_hw", L2Length: 14, L3Length: 20,
		L4Type: 11})
	runs := streams()
	for i := range list {
		list[i] = addressed(list[i])
		id := uint32(i + 1)
		hops := 22
		if list[i].Packet.Binary[12] == 0x86 {
			hops = 21
		}
		list[i].Packet.Binary[hops] = byte(id)
		runs = append(runs, RunStream{ID: id, Stream: list[i]})
	}
	return runs
}

func capturedBy(t *testing.T, a, b Port, run Run, live bool) map[uint32][][]byte {
	t.Helper()
	var mutex sync.Mutex
	captured, total := map[uint32][][]byte{}, 0
	stop, err := b.Capture(func(f Frame) {
		mutex.Lock()
		defer mutex.Unlock()
		id := uint32(f.Bytes[22])
		if f.Bytes[12] == 0x86 {
			id = uint32(f.Bytes[21])
		}
		captured[id] = append(captured[id], f.Bytes)
		total++
	})
	noError(t, err)
	defer stop()
	noError(t, a.Start(run))
	if live {
		carried(t, a)
	}
	finish(t, a)
	noError(t, a.Stop())
	want := 0
	for _, s := range run.Streams {
		want += int(s.Stream.Mode.TotalPackets)
	}
	eventually(t, fmt.Sprintf("all %d frames are captured", want), func() bool {
		mutex.Lock()
		defer mutex.Unlock()
		return total == want
	})
	return captured
}

func inOrder(frames [][]byte) [][]byte {
	sorted := append([][]byte(nil), frames...)
	for i := range sorted {
		for j := i; j > 0 && bytes.Compare(sorted[j], sorted[j-1]) < 0; j-- {
			sorted[j], sorted[j-1] = sorted[j-1], sorted[j]
		}
	}
	return sorted
}

func TestLiveLatency(t *testing.T) {
	a, b := liveCable(t, Options{Cores: 2})
	late := addressed(continuous(1000, frame(100)))
	late.FlowStats = stream.Flow{Enabled: true, StreamID: 7, RuleType: "latency"}
	counted := addressed(continuous(10_000, frame(60)))
	counted.FlowStats = stream.Flow{Enabled: true, StreamID: 5, RuleType: "stats"}
	noError(t, a.Start(Run{Streams: streams(late, counted), Factor: 2, NextHop: macOf(b),
		Duration: 300 * time.Millisecond}))
	carried(t, a)
	finish(t, a)
	noError(t, a.Stop())
	sent := a.Flows()
	// A thread that waits for its processor leaves out some frames of both streams, and not the same share. Up to
	// 600 stamped frames would leave if the factor scaled them, too.
	if n, reference := sent[7].Sent.Packets, sent[5].Sent.Packets; n == 0 || n > 300 || reference == 0 ||
		reference > 6000 {
		t.Errorf("%d stamped frames at 1000 a second in 300 ms, and %d counted ones at 20 000, whatever the factor", n,
			reference)
	}
	eventually(t, "all arrive", func() bool {
		got := b.Flows()
		return got[5].Received == sent[5].Sent && got[7].Received == sent[7].Sent &&
			b.Latency()[7].Received == sent[7].Sent.Packets
	})
	if l := b.Latency()[7]; l.Dropped+l.OutOfOrder+l.Duplicate+l.SequenceTooHigh+l.SequenceTooLow != 0 || l.Min <= 0 ||
		l.Max > time.Second {
		t.Errorf("latency %+v", l)
	}
}

func TestLiveFramesNeedAFarEndThatTakesThem(t *testing.T) {
	a, _ := liveCable(t, Options{})
	noError(t, setGRO("east", false))
	if err := a.Start(Run{Streams: streams(continuous(1000, frame(60))), Factor: 1}); err != nil {
		t.Fatal(err)
	}
	if path := a.Info().Path; !strings.Contains(path, "AF_XDP (not by live frames") ||
		!strings.Contains(path, "ethtool -K PEER gro on") {
		t.Errorf("path %q", path)
	}
	noError(t, a.Stop())
	if p, err := Open(Options{Interface: "west", Path: PathLive}); err == nil ||
		!strings.Contains(err.Error(), "ethtool -K PEER gro on") {
		t.Errorf("opened %v, %v", p, err)
	}
}

// transmitted is how many frames the kernel counts as sent by an interface.
func transmitted(t *testing.T, name string) int64 {
	t.Helper()
	return transmissions(t, name)()
}

// transmissions is transmitted for other threads, which may be in another namespace.
func transmissions(t *testing.T, name string) func() int64 {
	t.Helper()
	h, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	noError(t, err)
	t.Cleanup(h.Close)
	return func() int64 {
		l, err := h.LinkByName(name)
		noError(t, err)
		return int64(l.Attrs().Statistics.TxPackets)
	}
}

// setGRO is ethtool -K NAME gro on|off.
func setGRO(name string, enabled bool) error { return ethtoolSet(name, ethtoolSetGRO, enabled) }

func TestMain(m *testing.M) {
	if name := os.Getenv(victimInterface); name != "" {
		runtime.LockOSThread()
		victim(name)
	}
	os.Exit(m.Run())
}

func TestLiveFramesThatFindNoRoom(t *testing.T) {
	a, b := liveCable(t, Options{})
	noError(t, ownThread("east"))
	noError(t, a.Start(runTo(b, 1, continuous(20e6, frame(60)))))
	carried(t, a)
	eventually(t, "the far end's queue is full", func() bool { return a.Counters().PeerFull > 1000 })
	noError(t, a.Stop())
	eventually(t, "each frame is received, or told to have found no room", func() bool {
		c := a.Counters()
		return c.Sent.Packets == b.Counters().Received.Packets+c.PeerFull
	})
	if c := a.Counters(); c.SendDrops != 0 || c.SendErrors != 0 {
		t.Errorf("counters %+v", c)
	}
}

// ownThread gives an interface's queue a thread of its own: the sender doesn't work it off itself then. The
// switch is in a sysfs of this namespace.
func ownThread(name string) error {
	fs, err := unix.Fsopen("sysfs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return err
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return errors.Join(err, unix.Close(fs))
	}
	mount, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, 0)
	if err := errors.Join(err, unix.Close(fs)); err != nil {
		return err
	}
	fd, err := unix.Openat(mount, "class/net/"+name+"/threaded", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err := errors.Join(err, unix.Close(mount)); err != nil {
		return err
	}
	_, err = unix.Write(fd, []byte("1"))
	return errors.Join(err, unix.Close(fd))
}

func TestLivePortsStartTogether(t *testing.T) {
	a, b := liveEnds(t, Options{}, runtime.NumCPU())
	const perSecond, length = 5000, 400 * time.Millisecond
	start := Now() + 500*time.Millisecond
	for _, p := range []Port{a, b} {
		far := map[Port]Port{a: b, b: a}[p]
		noError(t, p.Start(Run{Streams: streams(addressed(continuous(perSecond, frame(60)))), Factor: 1,
			NextHop: macOf(far), Start: start, Duration: length}))
		carried(t, p)
	}
	eventually(t, "the start comes", func() bool {
		sent := a.Counters().Sent.Packets + b.Counters().Sent.Packets
		if sent > 0 && Now() < start {
			t.Fatalf("%d frames left before the start", sent)
		}
		return Now() > start
	})
	finish(t, a)
	finish(t, b)
	for _, p := range []Port{a, b} {
		noError(t, p.Stop())
		c := p.Counters()
		if got, want := float64(c.Sent.Packets+c.Behind), perSecond*length.Seconds(); math.Abs(got-want) > 2 {
			t.Errorf("%v frames, %d of them given up, want %v", got, c.Behind, want)
		}
	}
	if got, want := a.Counters().Received, b.Counters().Sent; got != want {
		t.Errorf("received %v of %v", got, want)
	}
}

func TestLiveFramesOfManyStreams(t *testing.T) {
	a, b := liveCable(t, Options{})
	run := Run{Factor: 1, NextHop: macOf(b)}
	for i := range liveMaxStreams {
		s := addressed(burst(20, 200, frame(60+9*i)))
		s.FlowStats = stream.Flow{Enabled: true, StreamID: uint32(i), RuleType: "stats"}
		s.VM.Instructions = []stream.Instruction{{Type: "flow_var", Name: "v", Size: 4, Op: "random", MaxValue: 1 << 31,
			Step: 1},
			{Type: "write_flow_var", Name: "v", PacketOffset: 26, BigEndian: true},
			{Type: "fix_checksum_hw", L2Length: 14, L3Length: 20, L4Type: 11}}
		run.Streams = append(run.Streams, RunStream{ID: uint32(i + 1), Stream: s})
	}
	noError(t, a.Start(run))
	carried(t, a)
	finish(t, a)
	noError(t, a.Stop())
	for i := range liveMaxStreams {
		want := units.Traffic{Packets: 20, Bytes: 20 * int64(64+9*i)}
		eventually(t, fmt.Sprintf("flow %d is %v", i, want), func() bool {
			return a.Flows()[uint32(i)].Sent == want && b.Flows()[uint32(i)].Received == want
		})
	}
}

// TestStampsOfEveryFrame: frames of streams that the factor scales bear stamps where they are asked for,
// whichever way they are sent, and each of them is followed.
func TestStampsOfEveryFrame(t *testing.T) {
	for name, path := range map[string]Path{"live frames": PathLive, "AF_XDP": PathXDP} {
		t.Run(name, func(t *testing.T) {
			a, b := liveCable(t, Options{})
			noError(t, errors.Join(a.Close(), b.Close()))
			a, b = open(t, Options{Interface: "west", Path: path}), open(t, Options{Interface: "east", Follow: true})
			if untimed := b.Info().Untimed; untimed != "" {
				t.Fatalf("not timed: %s", untimed)
			}
			small, large := addressed(continuous(3000, frame(60))), addressed(continuous(1000, frame(590)))
			small.FlowStats = stream.Flow{Enabled: true, StreamID: 5, RuleType: "stats", Stamped: true}
			large.FlowStats = stream.Flow{Enabled: true, StreamID: 6, RuleType: "stats", Stamped: true}
			noError(t, a.Start(Run{Streams: streams(small, large), Factor: 2, NextHop: macOf(b),
				Duration: 300 * time.Millisecond}))
			finish(t, a)
			noError(t, a.Stop())
			for id, length := range map[uint32]int64{5: 64, 6: 594} {
				sent := a.Flows()[id].Sent
				if sent.Packets == 0 || sent.Bytes != length*sent.Packets {
					t.Errorf("flow %d: sent %v", id, sent)
				}
				eventually(t, fmt.Sprintf("all %d of flow %d are followed", sent.Packets, id), func() bool {
					return b.Flows()[id].Received == sent && b.Latency()[id].Received == sent.Packets &&
						b.Transits()[id].Frames() == uint64(sent.Packets)
				})
				if l := b.Latency()[id]; l.Dropped+l.OutOfOrder+l.Duplicate+l.Stale+l.Merged+l.SequenceTooHigh+
					l.SequenceTooLow != 0 || l.Min <= 0 || l.Max > time.Second {
					t.Errorf("flow %d: %+v", id, l)
				}
			}
		})
	}
	t.Run("a port that can't time frames by stamps says why", func(t *testing.T) {
		_, b := liveCable(t, Options{Cores: 2})
		noError(t, b.Close())
		for want, o := range map[string]Options{"2 threads share each stream": {Cores: 2, Follow: true},
			"it receives by AF_PACKET": {Plain: true, Follow: true}, "it receives by eBPF": {}} {
			o.Interface = "east"
			p := open(t, o)
			if got := p.Info().Untimed; !strings.HasPrefix(got, want) {
				t.Errorf("untimed: %q, want %s", got, want)
			}
			noError(t, p.Close())
		}
	})
}
