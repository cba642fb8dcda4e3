package datapath

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/units"
)

// port is an open interface.
type port struct {
	options     Options
	name        string
	index       int
	mac         [6]byte
	mtu         int
	nic         machine.NIC
	speed       units.BitRate
	queues      int
	cpus        int // processors that this process may use
	namespace   *namespace
	shortQueues *sendQueues // for frames up to a page
	longQueues  *sendQueues // for longer frames; opened when first needed
	sending     string      // the name of the path of queues
	receiving   string
	link        *linkWatch
	kernel      kernelCounters
	receiver    receiver
	inbox       *inbox
	live        atomic.Pointer[liveRun] // the run in progress, if the kernel sends it
	captures    captures

	sent   sendCounters
	behind atomic.Int64
	busy   atomic.Int64 // processor time of the sending threads, ns
	waits  processorWaits
	runs   atomic.Uint32
	// sendingTime is how long the latest run of finite streams took, in ns. It is 0 without such a run, and until the run is over.
	sendingTime atomic.Int64

	local         atomic.Pointer[neighbours]
	injector      int    // a packet socket
	releasePlaces func() // gives the sending threads' places in the scheduler back; nil without places

	mutex       sync.Mutex // guards the fields below
	closed      bool
	playback    *playback
	failure     error
	promiscuous bool
	capturing   bool
	load        processorLoad
	driverDrops int64                   // the last result of sendDrops
	baseline    map[uint32]FlowCounters // the counters at the last ForgetFlows, which are subtracted
	flowIDs     map[uint32]bool         // of the runs so far
}

var _ Port = (*port)(nil)

// Open opens an interface in the calling thread's network namespace, and begins to receive on it. It needs CAP_NET_RAW. With CAP_BPF and CAP_NET_ADMIN
// as well, a program in the kernel counts frames, and frames aren't copied out of the kernel. Info().Path says which way is used.
func Open(options Options) (Port, error) {
	if options.Batch < 0 || options.Batch > MostBatch {
		return nil, fmt.Errorf("open %s: a batch of %d frames; it is 1 to %d, or 0 for %d", options.Interface, options.Batch, MostBatch, liveBatch)
	}
	p := &port{options: options, injector: -1, baseline: map[uint32]FlowCounters{}, flowIDs: map[uint32]bool{}}
	if err := p.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", options.Interface, err), p.release())
	}
	p.releasePlaces = addSchedulerPlaces(max(options.Cores, 1))
	return p, nil
}

func (p *port) open() error {
	l, err := facts(p.options.Interface)
	if err != nil {
		return err
	}
	a := l.Attrs()
	if len(a.HardwareAddr) != 6 {
		return fmt.Errorf("it is not an Ethernet interface: its hardware address is %q", a.HardwareAddr)
	}
	p.name, p.index, p.mtu, p.mac = a.Name, a.Index, a.MTU, [6]byte(a.HardwareAddr)
	p.queues, p.cpus = max(a.NumTxQueues, 1), allowedProcessors
	if p.nic = machine.NICOf(p.name); p.nic.Driver == "" {
		p.nic.Driver = l.Type()
	}
	p.speed = speed(p.name)
	if p.namespace, err = currentNamespace(); err != nil {
		return err
	}
	if p.link, err = watchLink(p.index); err != nil {
		return err
	}
	p.kernel.index = p.index
	if err := p.kernel.open(); err != nil {
		return err
	}
	if p.injector, err = packetSocket(p.name, p.index); err != nil {
		return err
	}
	p.inbox = newInbox(p)
	p.captures.changed = p.captureChanged
	return p.openPaths()
}

// openPaths chooses how to send and to receive here.
func (p *port) openPaths() (err error) {
	var sending, receiving string
	if p.options.Path == PathLive {
		if err := errors.Join(checkLiveInterface(p), checkLiveKernel()); err != nil {
			return fmt.Errorf("send live frames: %w", err)
		}
	}
	if p.shortQueues, sending, err = openSendQueues(p); err != nil {
		return err
	}
	if p.receiver, receiving, err = openReceiver(p); err != nil {
		return err
	}
	p.sending, p.receiving = sending, receiving
	return nil
}

// path says how frames are sent and received. It describes the present run, or else the next one.
func (p *port) path() string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	var instead error
	if p.playback != nil {
		instead = p.playback.liveRefusal
	} else {
		instead = refuseLive(p)
	}
	sending := "live frames"
	if p.options.Batch > 0 {
		sending = fmt.Sprintf("live frames in batches of %d", p.options.Batch)
	}
	if instead != nil || p.playback != nil && p.playback.live == nil {
		sending = p.sending
		if p.playback != nil && longest(p.playback.tracks) > unix.Getpagesize() {
			sending = "AF_PACKET"
		}
	}
	if errors.Is(instead, errNotLive) {
		sending += " (" + instead.Error() + ")"
	}
	return "sends by " + sending + ", receives by " + p.receiving
}

func (p *port) Info() Info {
	return Info{Interface: p.name, Driver: p.nic.Driver, NIC: p.nic.Model, Firmware: p.nic.Firmware, MAC: p.mac, MTU: p.mtu, Speed: p.speed, LinkUp: p.link.isUp.Load(),
		LinkFlaps: p.link.flaps.Load(), Path: p.path(), ReceiveDrops: receiveDrops(p.nic.Driver), PauseFrames: pauseFrames(p.nic.Driver), Untimed: p.stampObstacle(), ReceiveQueues: receiveQueues(p.name)}
}

// batch is how many live frames the kernel sends as one batch.
func (p *port) batch() int { return cmp.Or(p.options.Batch, liveBatch) }

// stampObstacle is why this port can't time every frame by stamps. It is empty for a port that can. Several threads that share a stream don't send its frames in order.
func (p *port) stampObstacle() string {
	switch {
	case p.options.Cores > 1:
		return fmt.Sprintf("%d threads share each stream and change its order, which would look like the device's reordering: use one thread for each port to time every frame", p.options.Cores)
	case p.receiver.follower() == nil:
		return "it receives by " + p.receiving + ", which doesn't follow stamps: eBPF does (CAP_BPF, CAP_NET_ADMIN and Linux 6.6)"
	}
	return ""
}

func (p *port) generation() uint8 { return uint8(p.runs.Load()) }

// fail keeps the first error that ended traffic.
func (p *port) fail(err error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.failure == nil {
		p.failure = err
	}
}

func (p *port) Inject(frames [][]byte, gap time.Duration) error {
	for i, f := range frames {
		if i > 0 && gap > 0 {
			sleep(gap)
		}
		if err := p.emit(f); err != nil {
			return fmt.Errorf("inject frame %d of %d on %s: %w", i+1, len(frames), p.name, p.explain(err, len(f)))
		}
		p.sent.total.add(1, wireLength(len(f)))
		p.captures.offer(Frame{Time: Now(), Sent: true, Bytes: append([]byte(nil), f...)})
	}
	return nil
}

// explain adds the cause and the fix to the kernel's error for a frame of this length without FCS. A virtual cable has no queue, so its far end drops a frame that is too long.
func (p *port) explain(err error, length int) error {
	const leastMTU, ethernetHeader = 68, 14 // the smallest MTU of IPv4 (RFC 791); shorter frames fit everywhere
	switch {
	case errors.Is(err, unix.EMSGSIZE):
		return fmt.Errorf("%w: its MTU is %d: ip link set %s mtu %d", ErrTooLong, p.mtu, p.name, length-ethernetHeader)
	case errors.Is(err, unix.ENOBUFS) && p.nic.Driver == "veth" && length > leastMTU+ethernetHeader:
		return fmt.Errorf("%w: the far end of this virtual cable takes less, or is down: set it up, with an MTU of at least %d", ErrTooLong, length-ethernetHeader)
	}
	return err
}

// ErrTooLong refuses a frame that is longer than a port takes.
var ErrTooLong = errors.New("too long")

// emit sends one frame, padded to Ethernet's smallest.
func (p *port) emit(frame []byte) error {
	if len(frame) < 60 {
		frame = append(append(make([]byte, 0, 60), frame...), make([]byte, 60-len(frame))...)
	}
	for {
		if _, err := unix.Write(p.injector, frame); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func (p *port) Answer(local []netip.Addr, vlan uint16) error {
	n := &neighbours{mac: p.mac, local: append([]netip.Addr(nil), local...), vlan: vlan}
	if len(local) == 0 {
		n = nil
	}
	p.local.Store(n)
	if err := p.updateSelection(); err != nil || n == nil {
		return err
	}
	for _, f := range n.announcements() {
		if err := p.emit(f); err != nil {
			return fmt.Errorf("announce addresses on %s: %w", p.name, err)
		}
	}
	return nil
}

// answer replies to a request for one of the port's addresses.
func (p *port) answer(frame []byte) {
	if n := p.local.Load(); n != nil {
		if reply := n.reply(frame); reply != nil {
			_ = p.emit(reply) // the neighbour will repeat its request
		}
	}
}

func (p *port) Capture(fn func(Frame)) (stop func(), err error) { return p.captures.add(fn) }

func (p *port) captureChanged(capturing bool) error {
	p.mutex.Lock()
	p.capturing = capturing
	p.mutex.Unlock()
	return p.updateSelection()
}

func (p *port) SetPromiscuous(enabled bool) error {
	p.mutex.Lock()
	p.promiscuous = enabled
	p.mutex.Unlock()
	return p.updateSelection()
}

// updateSelection gives the receiver the present selection of frames.
func (p *port) updateSelection() error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.receiver.selectFrames(frameSelection{promiscuous: p.promiscuous, passAll: p.capturing, neighbours: p.local.Load() != nil})
}

func (p *port) Close() error {
	p.mutex.Lock()
	already := p.closed
	p.closed = true
	p.mutex.Unlock()
	if already {
		return nil
	}
	return errors.Join(p.Stop(), p.release())
}

// release closes everything that open has opened.
func (p *port) release() error {
	var errs []error
	if p.releasePlaces != nil {
		p.releasePlaces()
	}
	if p.receiver != nil {
		errs = append(errs, p.receiver.close())
	}
	for _, o := range []*sendQueues{p.shortQueues, p.longQueues} {
		if o != nil {
			errs = append(errs, o.close())
		}
	}
	if p.link != nil {
		p.link.close()
	}
	p.kernel.close()
	if p.injector >= 0 {
		errs = append(errs, unix.Close(p.injector))
	}
	if p.namespace != nil {
		errs = append(errs, p.namespace.close())
	}
	return errors.Join(errs...)
}
