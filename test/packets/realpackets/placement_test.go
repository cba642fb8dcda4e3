package realpackets

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/device/forwarder"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// placementTest is a load that any router carries.
const placementTest = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: placement}
spec:
  dut: {type: Device}
  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
  traffic: {profile: FixedSize, frameSize: 64, flows: {count: %d}, directions: [{from: west, to: east}]}
  procedure: {type: ConstantLoad, constantLoad: {rate: 30kpps, warmupDuration: 0s, duration: 3s, window: 3s}}
`

// placed is a way to receive frames, by so many queues. A thread each may empty them, on a processor each, and RPS may
// hand their frames on to others.
type placed struct {
	queues, flows int
	threads       []int // the processor of each queue's thread, nil for no NAPI
	rps           []int // the processor of each queue, nil for none
	xps           []int // the processor that sends by each of the cable's send queues, nil for none
}

func drawPlaced(processors []int) placed {
	some := func(n int) (list []int) {
		for range n {
			list = append(list, processors[rand.IntN(len(processors))])
		}
		return list
	}
	p := placed{queues: []int{1, 2, 4}[rand.IntN(3)], flows: []int{1, 8, 254}[rand.IntN(3)]}
	if rand.IntN(2) == 0 {
		p.threads = some(p.queues)
	}
	if rand.IntN(2) == 0 {
		p.rps = some(p.queues)
	}
	if p.queues > 1 && rand.IntN(3) == 0 { // a cable with one send queue has nothing to choose
		p.xps = some(p.queues)
	}
	return p
}

// TestPlacementsAreNamed receives frames in ways that only the test knows. The Report must say by which queues and on
// which processors a router of this machine receives, as an eBPF program counts frame by frame behind RPS. A router
// that has time left has no findings.
func TestPlacementsAreNamed(t *testing.T) {
	needRoot(t)
	own, err := machine.OwnProcessors()
	if err != nil {
		t.Fatal(err)
	}
	for i := range tier.Times(3, 40) {
		p := drawPlaced(machine.ListProcessors(own))
		switch i { // the gate has one of each kind
		case 0:
			p.threads, p.rps = nil, nil
		case 1:
			p.rps, p.threads = []int{rand.IntN(2), rand.IntN(2), rand.IntN(2), rand.IntN(2)}[:p.queues], nil
		case 2:
			p.threads = []int{rand.IntN(2), rand.IntN(2), rand.IntN(2), rand.IntN(2)}[:p.queues]
		}
		t.Run(fmt.Sprintf("%d, %+v", i+1, p), func(t *testing.T) { checkPlaced(t, p) })
	}
}

func checkPlaced(t *testing.T, p placed) {
	r := &rig{generator: space(t), device: space(t), ports: 2}
	r.cableQueues(t, p.queues)
	r.route(t)
	r.receive(t, p)
	r.hold(t)
	stop := r.countReceived(t)
	rep := r.measure(t, fmt.Sprintf(placementTest, p.flows))
	truth := stop(t, rep)
	lossy := slices.ContainsFunc(rep.Windows, func(w report.Window) bool { return w.Quality != report.Good })
	if len(rep.Findings) > 0 && !lossy {
		t.Errorf("a router with time left has findings: %+v", rep.Findings)
	}
	compareProcessors(t, rep.Placement, truth)
	west := rep.Placement.Links[0]
	if west.Link != "west" || west.Interface != "d0" || len(west.Queues) != p.queues {
		t.Fatalf("%+v, want the %d queues of d0", west, p.queues)
	}
	compareQueues(t, p, west, truth)
}

// compareProcessors holds each processor's share of what was received to the truth. The shares contain what other
// programs of this machine received meanwhile, as the kernel counts all together.
func compareProcessors(t *testing.T, p *report.Placement, truth [][]uint64) {
	t.Helper()
	all, total, sent := int64(0), uint64(0), int64(0)
	byProcessor := make([]uint64, len(truth[0]))
	for _, counts := range truth {
		for processor, n := range counts {
			byProcessor[processor] += n
			total += n
		}
	}
	for _, x := range p.Processors {
		all += x.Frames
	}
	for _, l := range p.Links {
		sent += l.Received
	}
	// each frame is received by the router, and once more at the generator's end
	foreign := max(0, float64(all-2*sent)/float64(max(all, 1)))
	for _, x := range p.Processors {
		got, want := 100*float64(x.Frames)/float64(max(all, 1)), 100*float64(byProcessor[x.Number])/float64(max(total, 1))
		t.Logf("processor %d: %.1f %%, in truth %.1f %% of %d; %.1f %% were others' frames", x.Number, got, want, total,
			100*foreign)
		if got < want-2-100*foreign || got > want+2+100*foreign {
			t.Errorf("processor %d received %.1f %% of frames, in truth %.1f %% (others' frames are %.1f %%)", x.Number,
				got, want, 100*foreign)
		}
	}
}

// compareQueues holds what is said of each queue to how it was made, and its share to the truth where the driver
// counts.
func compareQueues(t *testing.T, p placed, l report.PlacedLink, truth [][]uint64) {
	t.Helper()
	total, sum := uint64(0), int64(0)
	byQueue := make([]uint64, len(l.Queues)+1)
	for queue, counts := range truth {
		for _, n := range counts {
			total += n
			if queue < len(byQueue) {
				byQueue[queue] += n
			}
		}
	}
	for _, q := range l.Queues {
		if q.Frames != nil {
			sum += *q.Frames
		}
	}
	for i, q := range l.Queues {
		polling := report.BySender
		if p.threads != nil {
			polling = report.ByThread
		}
		if q.Polling != polling {
			t.Errorf("queue %d: %q, want %q", i, q.Polling, polling)
		}
		if p.threads != nil && byQueue[i+1] > total/50 && (q.Processor == nil || *q.Processor != p.threads[i]) {
			t.Errorf("queue %d is emptied on %s, want processor %d: %+v", i, text(q.Processor), p.threads[i], q)
		}
		if want := strings.Join(listed(p.rps, i), ""); q.RPS != want {
			t.Errorf("queue %d: RPS %q, want %q", i, q.RPS, want)
		}
		if q.Frames == nil || byQueue[0] > 0 { // frames that no queue is known of
			continue
		}
		got, want := 100*float64(*q.Frames)/float64(max(sum, 1)), 100*float64(byQueue[i+1])/float64(max(total, 1))
		if got < want-2 || got > want+2 {
			t.Errorf("queue %d received %.1f %% of frames, in truth %.1f %%", i, got, want)
		}
	}
}

func text(processor *int) string {
	if processor == nil {
		return "an unknown processor"
	}
	return fmt.Sprintf("processor %d", *processor)
}

func listed(list []int, i int) []string {
	if list == nil {
		return nil
	}
	return []string{strconv.Itoa(list[i])}
}

// cableQueues lays the rig's cables, with so many queues each way.
func (r *rig) cableQueues(t *testing.T, queues int) {
	t.Helper()
	for i := range r.ports {
		far := fmt.Sprintf("d%d", i)
		in(t, r.generator, func() error {
			attrs := netlink.NewLinkAttrs()
			attrs.Name, attrs.NumTxQueues, attrs.NumRxQueues = fmt.Sprintf("g%d", i), queues, queues
			veth := netlink.NewVeth(attrs)
			veth.PeerName, veth.PeerNamespace = far, netlink.NsFd(r.device.Fd())
			veth.PeerNumTxQueues, veth.PeerNumRxQueues = uint32(queues), uint32(queues)
			if err := netlink.LinkAdd(veth); err != nil {
				return err
			}
			return setUp(attrs.Name)
		})
		in(t, r.device, func() error { return setUp(far) })
	}
}

// receive makes the router receive on west as it was drawn.
func (r *rig) receive(t *testing.T, p placed) {
	t.Helper()
	write := func(file string, processor int) error {
		mount, err := netif.MountSysfs()
		if err != nil {
			return err
		}
		defer func() { _ = unix.Close(mount) }()
		return os.WriteFile(fmt.Sprintf("/proc/self/fd/%d/class/net/%s", mount, file),
			[]byte(strconv.FormatInt(1<<processor, 16)), 0o600)
	}
	in(t, r.device, func() error {
		for i, processor := range p.rps {
			if err := write(fmt.Sprintf("d0/queues/rx-%d/rps_cpus", i), processor); err != nil {
				return err
			}
		}
		if p.threads == nil {
			return nil
		}
		before := napiThreads("d0")
		gro := netif.SetOffload("d0", netif.GenericReceive, true)
		if _, err := forwarder.SetThreaded("d0", true); errors.Join(gro, err) != nil {
			return errors.Join(gro, err)
		}
		threads := slices.DeleteFunc(napiThreads("d0"), func(id int) bool { return slices.Contains(before, id) })
		if len(threads) != p.queues {
			return fmt.Errorf("%d threads for %d queues", len(threads), p.queues)
		}
		for i, thread := range threads {
			if err := machine.Bind(thread, p.threads[i]); err != nil {
				return err
			}
		}
		return nil
	})
	in(t, r.generator, func() error {
		for i, processor := range p.xps {
			if err := write(fmt.Sprintf("g0/queues/tx-%d/xps_cpus", i), processor); err != nil {
				return err
			}
		}
		return nil
	})
}

// napiThreads are the kernel's threads that receive for interfaces of this name, in their queues' order. Each NAPI has a
// number of its own, and its thread is named by it.
func napiThreads(name string) (threads []int) {
	processes, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well-formed
	for _, process := range processes {
		if thread, err := strconv.Atoi(filepath.Base(process)); err == nil && napiOf(thread, name) > 0 {
			threads = append(threads, thread)
		}
	}
	slices.SortFunc(threads, func(a, b int) int { return napiOf(a, name) - napiOf(b, name) })
	return threads
}

// napiOf is the number of the NAPI that a thread polls for an interface, and 0 for any other thread.
func napiOf(thread int, name string) int {
	comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", thread)) // it may have ended
	text, found := strings.CutPrefix(strings.TrimSpace(string(comm)), "napi/"+name+"-")
	number, err := strconv.Atoi(text)
	if !found || err != nil {
		return 0
	}
	return number
}

// hold has a process in the router's namespace, as a router has, until the test ends.
func (r *rig) hold(t *testing.T) {
	t.Helper()
	cmd := exec.Command("sleep", "60")
	in(t, r.device, cmd.Start)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}

// received is how many frames the router's protocols had received on west at a moment, by queue and processor. Row 0 is
// of frames that no queue is known of, and row n of queue n-1.
type received struct {
	moment time.Time
	counts [][]uint64
}

// countReceived begins to count each frame that the router's protocols receive on west. What it returns ends that, and
// has what came within the window that the Report's placement is of. The path was proven before that window, by other
// frames.
func (r *rig) countReceived(t *testing.T) (stop func(*testing.T, *report.Report) [][]uint64) {
	t.Helper()
	byQueue := r.attachCounter(t)
	rows := r.rowsOf(t)
	read := func() received {
		now := received{moment: time.Now()}
		for _, keys := range rows {
			sum := make([]uint64, runtime.NumCPU())
			for _, key := range keys {
				var byProcessor []uint64
				if err := byQueue.Lookup(key, &byProcessor); err != nil {
					continue // no frame of it came
				}
				for i := range sum {
					sum[i] += byProcessor[i]
				}
			}
			now.counts = append(now.counts, sum)
		}
		return now
	}
	readings, done := []received{read()}, make(chan struct{})
	var reading sync.WaitGroup
	reading.Go(func() {
		for tick := time.NewTicker(20 * time.Millisecond); ; {
			select {
			case <-done:
				tick.Stop()
				return
			case <-tick.C:
				readings = append(readings, read())
			}
		}
	})
	return func(t *testing.T, rep *report.Report) [][]uint64 {
		t.Helper()
		close(done)
		reading.Wait()
		return within(t, readings, rep)
	}
}

// within is what came from the last reading before the placement's window to the first one after it.
func within(t *testing.T, readings []received, rep *report.Report) [][]uint64 {
	t.Helper()
	if rep.Placement == nil {
		t.Fatal("the Report doesn't say where frames were received")
	}
	w := rep.Windows[rep.Placement.Window-1]
	begin := rep.Started.Add(w.Start.Std())
	first, last := readings[0], readings[len(readings)-1]
	for _, x := range readings {
		if x.moment.Before(begin) {
			first = x
		}
	}
	for _, x := range slices.Backward(readings) {
		if x.moment.After(begin.Add(w.Duration.Std())) {
			last = x
		}
	}
	for row := range last.counts {
		for processor := range last.counts[row] {
			last.counts[row][processor] -= first.counts[row][processor]
		}
	}
	return last.counts
}

// rowsOf are the keys by which each row's frames are counted. A frame has the number of the NAPI that received it, or
// without NAPI the number of the queue that the sender chose, from 1.
func (r *rig) rowsOf(t *testing.T) (rows [][]uint32) {
	t.Helper()
	rows = append(rows, []uint32{0})
	for n := range uint32(4) {
		rows = append(rows, []uint32{n + 1})
	}
	in(t, r.device, func() error {
		for i, thread := range napiThreads("d0") {
			rows[i+1] = append(rows[i+1], uint32(napiOf(thread, "d0")))
		}
		return nil
	})
	return rows
}

// attachCounter has a program of the kernel's count frames behind RPS, by key and processor.
func (r *rig) attachCounter(t *testing.T) *ebpf.Map {
	t.Helper()
	counts, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.PerCPUHash, KeySize: 4, ValueSize: 8, MaxEntries: 64})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = counts.Close() })
	const queueMapping, napi, fewestNAPI = 12, 84, 256 // in struct __sk_buff; smaller numbers are processors
	program, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.SchedCLS, License: "GPL", Instructions: asm.Instructions{
		asm.LoadMem(asm.R2, asm.R1, napi, asm.Word),
		asm.JGE.Imm(asm.R2, fewestNAPI, "key"),
		asm.LoadMem(asm.R2, asm.R1, queueMapping, asm.Word),
		asm.StoreMem(asm.RFP, -4, asm.R2, asm.Word).WithSymbol("key"),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, -4),
		asm.LoadMapPtr(asm.R1, counts.FD()),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "new"),
		asm.LoadMem(asm.R1, asm.R0, 0, asm.DWord),
		asm.Add.Imm(asm.R1, 1),
		asm.StoreMem(asm.R0, 0, asm.R1, asm.DWord),
		asm.Ja.Label("next"),
		asm.Mov.Imm(asm.R1, 1).WithSymbol("new"),
		asm.StoreMem(asm.RFP, -16, asm.R1, asm.DWord),
		asm.LoadMapPtr(asm.R1, counts.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, -4),
		asm.Mov.Reg(asm.R3, asm.RFP),
		asm.Add.Imm(asm.R3, -16),
		asm.Mov.Imm(asm.R4, 0),
		asm.FnMapUpdateElem.Call(),
		asm.Mov.Imm(asm.R0, -1).WithSymbol("next"), // TCX_NEXT
		asm.Return(),
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	in(t, r.device, func() error {
		west, err := netlink.LinkByName("d0")
		if err != nil {
			return err
		}
		attached, err := link.AttachTCX(link.TCXOptions{Interface: west.Attrs().Index, Program: program,
			Attach: ebpf.AttachTCXIngress})
		if err == nil {
			t.Cleanup(func() { _ = attached.Close() })
		}
		return err
	})
	return counts
}
