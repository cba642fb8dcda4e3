package realpackets

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

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
  procedure: {type: ConstantLoad, constantLoad: {rate: 30kpps, warmupDuration: 0s, duration: 1s, window: 1s}}
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
	if rand.IntN(3) == 0 {
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
	counter := r.countReceived(t)
	rep := r.measure(t, fmt.Sprintf(placementTest, p.flows))
	truth := counter(t)
	if rep.Placement == nil {
		t.Fatal("the Report doesn't say where frames were received")
	}
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
			if queue < len(byQueue) { // the kernel numbers them from 1 there
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
			t.Errorf("queue %d is emptied on %v, want processor %d: %+v", i, q.Processor, p.threads[i], q)
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
	numbers := map[int]int{}
	files, _ := filepath.Glob("/proc/[0-9]*/comm") // the pattern is well-formed
	for _, file := range files {
		comm, _ := os.ReadFile(file) // it may have ended
		text, found := strings.CutPrefix(strings.TrimSpace(string(comm)), "napi/"+name+"-")
		number, err := strconv.Atoi(text)
		thread, err2 := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if found && err == nil && err2 == nil {
			threads, numbers[thread] = append(threads, thread), number
		}
	}
	slices.SortFunc(threads, func(a, b int) int { return numbers[a] - numbers[b] })
	return threads
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

// countReceived counts each frame that the router's protocols receive on west, by receive queue (from 1, 0 for none) and
// processor.
func (r *rig) countReceived(t *testing.T) func(*testing.T) [][]uint64 {
	t.Helper()
	const queues = 8
	counts, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: 8, MaxEntries: queues})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = counts.Close() })
	const queueMapping = 12 // in struct __sk_buff
	program, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.SchedCLS, License: "GPL", Instructions: asm.Instructions{
		asm.LoadMem(asm.R2, asm.R1, queueMapping, asm.Word),
		asm.StoreMem(asm.RFP, -4, asm.R2, asm.Word),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, -4),
		asm.LoadMapPtr(asm.R1, counts.FD()),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "next"),
		asm.LoadMem(asm.R1, asm.R0, 0, asm.DWord),
		asm.Add.Imm(asm.R1, 1),
		asm.StoreMem(asm.R0, 0, asm.R1, asm.DWord),
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
	return func(t *testing.T) (byQueue [][]uint64) {
		t.Helper()
		for queue := range uint32(queues) {
			var byProcessor []uint64
			if err := counts.Lookup(queue, &byProcessor); err != nil {
				t.Fatal(err)
			}
			byQueue = append(byQueue, byProcessor)
		}
		return byQueue
	}
}
