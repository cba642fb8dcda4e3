package datapath

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

const xdpRedirect = 4 // enum xdp_action

// hostileProfiles is how many profiles the gate plays.
const hostileProfiles = 200

// TestHostileProfiles gives the sender in the kernel profiles that nobody would write. Each profile is refused
// in one sentence, or its program is loaded and makes exactly the requested frames. The kernel runs it as it
// does for live frames, but hands each frame back instead of sending it.
func TestHostileProfiles(t *testing.T) {
	played := 0
	for seed := range uint64(hostileProfiles) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			if hostile(t, seed) {
				played++
			}
		})
	}
	if t.Logf("%d of %d profiles were played, the others refused", played,
		hostileProfiles); played < hostileProfiles/4 || played > hostileProfiles*9/10 {
		t.Errorf("%d of %d profiles were played: the others, or those that were refused, prove little", played,
			hostileProfiles)
	}
}

// FuzzHostileProfiles is TestHostileProfiles without an end.
func FuzzHostileProfiles(f *testing.F) {
	f.Add(uint64(hostileProfiles))
	f.Fuzz(func(t *testing.T, seed uint64) { hostile(t, seed) })
}

// hostile plays a profile, or checks its refusal.
func hostile(t *testing.T, seed uint64) (played bool) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 20))
	run := hostileRun(r)
	l := hostileSender(t, run, 1+r.IntN(2))
	if l == nil {
		return false
	}
	threads := make([]hostileThread, len(l.parts))
	for k := range threads {
		threads[k] = append(threads[k], newHostilePart(l, k))
	}
	if len(threads) == 1 && r.IntN(2) == 0 { // another port sends on the same thread
		if second := hostileSender(t, hostileRun(r), 1); second != nil {
			threads[0] = append(threads[0], newHostilePart(second, 0))
		}
	}
	for _, h := range threads {
		h.play(t, r)
	}
	return true
}

// oneSentence checks that a refusal can be read at once.
func oneSentence(t *testing.T, err error) {
	t.Helper()
	if text := err.Error(); text == "" || len(text) > 250 || strings.ContainsAny(text, "\n\t") ||
		strings.Contains(text, "%!") {
		t.Errorf("refused with %q", text)
	}
}

// hostileRun draws streams of any length, rate, kind and mark, with programs that mostly make no sense. One
// stream that is refused by itself is enough, so three in four profiles are made of others.
func hostileRun(r *rand.Rand) Run {
	run, single := Run{Factor: 1}, r.IntN(4) > 0
	for i := 0; i < 1+r.IntN(6); {
		added := RunStream{ID: uint32(i + 1), Stream: hostileStream(r)}
		tracks, err := compiler{speed: 10e9}.compile([]RunStream{added})
		if single && (err != nil || checkLiveRun(run, tracks) != nil) {
			continue
		}
		run.Streams = append(run.Streams, added)
		i++
	}
	return run
}

func hostileStream(r *rand.Rand) stream.Stream {
	s := continuous(math.Pow(10, 12*r.Float64()-2), hostileTemplate(r))
	switch r.IntN(8) {
	case 0:
		s.Mode.Rate.Value = []float64{1e-13, 1e13, math.SmallestNonzeroFloat64, math.MaxFloat64}[r.IntN(4)]
	case 1:
		s.Mode.Rate.Type = []string{"bps_L1", "bps_L2", "percentage"}[r.IntN(3)]
	case 2:
		s.Mode.Type, s.Mode.TotalPackets = "single_burst", 1+r.Uint32N(60)
	case 3:
		s.Mode.Type, s.Mode.PacketsPerBurst, s.Mode.Count = "multi_burst", r.Uint32N(3), r.Uint32N(3)
	}
	s.ISG, s.Flags = float64(r.IntN(3)), r.IntN(8)
	if r.IntN(2) == 0 {
		s.FlowStats = stream.Flow{Enabled: true, StreamID: r.Uint32N(1040), RuleType: []string{"stats",
			"latency"}[r.IntN(2)], Stamped: r.IntN(2) == 0}
	}
	for range r.IntN(3) {
		s.VM.Instructions = append(s.VM.Instructions, hostileVariable(r, s.Packet.Binary)...)
	}
	if r.IntN(3) == 0 {
		s.VM.Instructions = append(s.VM.Instructions, stream.Instruction{Type: "fix_checksum_hw", L2Length: 14 +
			4*r.IntN(2), L3Length: []int{20, 40, r.IntN(99)}[r.IntN(3)], L4Type: 11 + 2*r.IntN(3)})
	}
	return s
}

// hostileTemplate is a frame of UDP, with or without a VLAN tag, over IPv4 or IPv6, or noise.
func hostileTemplate(r *rand.Rand) []byte {
	lengths := []int{14, 41, 59, 60, 61, 62, 66, 78, 127, 128, 255, 256, 257, 590, 1514, 1518, 3299, 3300, 3301, 9000}
	b := frame(max(lengths[r.IntN(len(lengths))], 42))
	for i := 42; i < len(b); i++ {
		b[i] = byte(r.Uint32())
	}
	switch r.IntN(5) {
	case 0:
		b = slices.Concat(b[:12], []byte{0x81, 0, 0, 7}, b[12:])
	case 1:
		six := append(slices.Clone(b[:12]), 0x86, 0xdd, 0x60, 0, 0, 0, 0, 0, 17, 64)
		b = append(six, b[min(22, len(b)):]...)
	case 2:
		for i := range b {
			b[i] = byte(r.Uint32())
		}
	}
	return b[:min(len(b), lengths[r.IntN(len(lengths))])]
}

func hostileVariable(r *rand.Rand, template []byte) []stream.Instruction {
	name := string(rune('a' + r.IntN(26)))
	size := 1 << r.IntN(4)
	top := ^uint64(0) >> (64 - 8*size)
	v := stream.Instruction{Type: "flow_var", Name: name, Size: size, Op: []string{"inc", "dec", "random"}[r.IntN(3)],
		MinValue: r.Uint64() & top >> r.IntN(8*size), MaxValue: r.Uint64() & top, Step: r.Uint64() >> r.IntN(64)}
	v.InitValue = v.MinValue
	if v.MaxValue > v.MinValue {
		v.InitValue += r.Uint64N(v.MaxValue - v.MinValue)
	}
	w := stream.Instruction{Type: "write_flow_var", Name: name, BigEndian: r.IntN(2) == 0,
		AddValue: int64(r.Uint32()) - 1<<31, PacketOffset: r.IntN(len(template) + 2)}
	switch r.IntN(6) {
	case 0:
		w.Type, w.CastSize, w.Mask, w.Shift = "write_mask_flow_var", 1<<r.IntN(3), r.Uint32(), r.IntN(80)-40
	case 1:
		w = stream.Instruction{Type: "trim_pkt_size", Name: name}
		v.Size, v.MinValue, v.MaxValue, v.InitValue, v.Step = 2, 0, uint64(r.IntN(len(template)+9)), 0, 1
	}
	return []stream.Instruction{v, w}
}

// hostileSender loads the programs of a run so that some frame is always due, without the kernel's call. It
// returns nil for a refused run.
func hostileSender(t *testing.T, run Run, threads int) *liveRun {
	t.Helper()
	tracks, err := compiler{source: [6]byte{2, 0, 0, 0, 0, 1}, speed: 10e9}.compile(run.Streams)
	if err == nil {
		err = checkLiveRun(run, tracks)
	}
	if err != nil {
		oneSentence(t, err)
		return nil
	}
	run.Factor = 5e7 / liveRate(tracks, 1)
	if checkLiveRun(run, tracks) != nil {
		run.Factor = 1
	}
	namespace, err := currentNamespace()
	noError(t, err)
	t.Cleanup(func() { noError(t, namespace.close()) })
	l := &liveRun{port: &port{device: device{index: 1, link: &linkWatch{}, namespace: namespace}}, tracks: tracks,
		factor: run.Factor}
	t.Cleanup(func() { noError(t, l.end()) })
	err = l.load(threads)
	if errors.Is(err, ebpf.ErrNotSupported) || errors.Is(err, unix.EPERM) {
		needKernel(t, err, "CAP_BPF and CAP_NET_ADMIN")
	}
	if err != nil { // refused by the kernel's verifier, or impossible for any program
		oneSentence(t, err)
		if !strings.Contains(err.Error(), "not by live frames: stream") {
			t.Fatalf("a run that live frames carry by their own rules: %v", err)
		}
		return nil
	}
	start := Now()
	for _, part := range l.parts {
		atomic.StoreUint64(&part.memory.Lease, uint64(start+time.Hour))
	}
	l.start(start)
	for begins := time.Duration(atomic.LoadUint64(&l.parts[0].memory.Start)); Now() < begins; {
		sleep(liveStartDelay)
	}
	return l
}

// hostileThread are a thread's parts of runs.
type hostileThread []*hostilePart

// hostilePart follows the frames that a thread makes of a run.
type hostilePart struct {
	*livePart
	sender *liveRun
	k      int      // the thread's number in the run
	frames []uint64 // frames so far, by track
}

func newHostilePart(l *liveRun, k int) *hostilePart {
	return &hostilePart{l.parts[k], l, k, make([]uint64, len(l.tracks))}
}

// counted is how many frames the program has counted, by track.
func (h *hostilePart) counted() []uint64 {
	n := make([]uint64, len(h.frames))
	for i := range n {
		n[i] = atomic.LoadUint64(&h.memory.Streams[i].Packets)
	}
	return n
}

// play has the thread make hundreds of frames on memory full of noise, and compares them with the streams.
// Ports that always have a frame due send in turns.
func (h hostileThread) play(t *testing.T, r *rand.Rand) {
	t.Helper()
	thread := h[0].thread
	for range 200 {
		h.step(t, r, thread)
	}
	sums := make([]uint64, len(h))
	for i, part := range h {
		part.check(t)
		for _, n := range part.frames {
			sums[i] += n
		}
	}
	if len(h) == 2 && h[1].thread != thread {
		t.Error("two ports have threads of their own on one processor")
	}
	if len(h) == 2 && h[0].alwaysDue() && h[1].alwaysDue() && max(sums[0], sums[1])-min(sums[0], sums[1]) > 1 {
		t.Errorf("two ports that share a thread made %d frames", sums)
	}
}

// alwaysDue says whether the program never waits, because a run of it takes much longer than a gap of its
// endless streams.
func (h *hostilePart) alwaysDue() bool {
	perSecond := 0.0
	for _, track := range h.sender.tracks {
		if track.total == 0 {
			perSecond += 1e9 / track.gap(h.sender.factor)
		}
	}
	return perSecond > 1e7
}

// step runs the thread's program once.
func (h hostileThread) step(t *testing.T, r *rand.Rand, thread *liveThread) {
	t.Helper()
	earlier := make([][]uint64, len(h))
	for i, part := range h {
		earlier[i] = part.counted()
	}
	noise := make([]byte, len(thread.frame))
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	opts := ebpf.RunOptions{Data: noise, DataOut: make([]byte, liveLongestFrame+8)}
	verdict, err := thread.entry.Run(&opts)
	noError(t, err)
	sender, frames := func() {}, 0
	for i, part := range h {
		for k, n := range part.counted() {
			if n != earlier[i][k] {
				sender, frames = func() { part.holds(t, k, opts.DataOut) }, frames+1
			}
		}
	}
	switch {
	case verdict == xdpDrop && frames == 0:
	case verdict == xdpRedirect && frames == 1:
		sender()
	default:
		t.Fatalf("verdict %d, %d frames counted", verdict, frames)
	}
}

// holds compares a frame with the next frame of its stream.
func (h *hostilePart) holds(t *testing.T, i int, got []byte) {
	t.Helper()
	track, n := h.sender.tracks[i], h.frames[i]
	index := uint64(h.k) + n*uint64(len(h.sender.parts))
	if track.singleThread {
		index = n
	}
	want := track.program.Template()
	want = want[:track.program.Frame(index, want)]
	if track.flow != nil && track.flow.stamped {
		stamp, ok := readStamp(got)
		if !ok || stamp.id != uint16(track.flow.id) || stamp.sequence != uint32(n) || stamp.sent <= 0 ||
			stamp.sent > Now() {
			t.Fatalf("track %d, frame %d has the stamp %+v (%v)", i, n, stamp, ok)
		}
		stamp.write(want, track.flow.network)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("track %d, frame %d:\n got % x\nwant % x", i, index, got, want)
	}
	h.frames[i]++
}

// check compares the counters with the made frames, and checks that endless streams kept their proportions.
func (h *hostilePart) check(t *testing.T) {
	t.Helper()
	sum, rate := 0.0, 0.0
	scaled := func(i int) bool {
		track := h.sender.tracks[i]
		return !track.fixedRate && track.total == 0 && track.wait == 0 && !track.singleThread
	}
	for i, track := range h.sender.tracks {
		if got := atomic.LoadUint64(&h.memory.Streams[i].Packets); got != h.frames[i] {
			t.Errorf("track %d: %d frames counted, %d made", i, got, h.frames[i])
		}
		if track.total > 0 && h.frames[i] > track.total {
			t.Errorf("track %d: %d frames made of %d", i, h.frames[i], track.total)
		}
		if scaled(i) {
			sum, rate = sum+float64(h.frames[i]), rate+track.perSecond
		}
	}
	for i, track := range h.sender.tracks {
		if want := sum * track.perSecond / rate; scaled(i) && math.Abs(float64(h.frames[i])-want) > 2 {
			t.Errorf("track %d: %d frames of %v are %s, want %.1f", i, h.frames[i], sum,
				fmt.Sprintf("%.3g frames/s of %.3g", track.perSecond, rate), want)
		}
	}
}
