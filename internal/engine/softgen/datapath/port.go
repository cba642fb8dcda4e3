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
	options   Options
	name      string
	index     int
	mac       [6]byte
	mtu       int
	nic       machine.NIC
	speed     units.BitRate
	queues    int
	cpus      int // processors that this process may use
	namespace *namespace
	short     *outlets // for frames up to a page
	long      *outlets // for longer ones; opened when first needed
	sending   string   // how, without live frames
	receiving string
	link      *linkWatch
	kernel    kernelCounters
	receiver  receiver
	inbox     *inbox
	live      atomic.Pointer[live] // the run in progress, where the kernel sends it
	captures  captures

	sent   sent
	behind atomic.Int64
	busy   atomic.Int64 // processor time of the sending threads, ns
	waits  waits
	runs   atomic.Uint32
	// took is how long the latest run of finite streams took, in ns; 0: there was none, or it isn't over.
	took atomic.Int64

	local    atomic.Pointer[neighbours]
	injector int    // a packet socket
	atRest   func() // returns the sending threads' places in the scheduler; nil: they have none

	mutex       sync.Mutex // guards what follows
	closed      bool
	play        *play
	failure     error
	promiscuous bool
	capturing   bool
	load        load
	thrown      int64                   // the last result of sendDrops
	baseline    map[uint32]FlowCounters // the counters at the last ForgetFlows, which are subtracted
	known       map[uint32]bool         // flow ids of the runs so far
}

var _ Port = (*port)(nil)

// Open takes an interface, in the calling thread's network namespace, and begins to receive on it. It needs CAP_NET_RAW; with CAP_BPF
// and CAP_NET_ADMIN as well, frames are counted by a program in the kernel instead of being copied out of it. Info().Path says which.
func Open(options Options) (Port, error) {
	if options.Batch < 0 || options.Batch > MostBatch {
		return nil, fmt.Errorf("open %s: a batch of %d frames; it is 1 to %d, or 0 for %d", options.Interface, options.Batch, MostBatch, liveBatch)
	}
	p := &port{options: options, injector: -1, baseline: map[uint32]FlowCounters{}, known: map[uint32]bool{}}
	if err := p.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", options.Interface, err), p.release())
	}
	p.atRest = atWork(max(options.Cores, 1))
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
	p.queues, p.cpus = max(a.NumTxQueues, 1), processorsHere
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
		if err := errors.Join(liveTakes(p), tryLive()); err != nil {
			return fmt.Errorf("send live frames: %w", err)
		}
	}
	if p.short, sending, err = openOutlets(p); err != nil {
		return err
	}
	if p.receiver, receiving, err = openReceiver(p); err != nil {
		return err
	}
	p.sending, p.receiving = sending, receiving
	return nil
}

// path says how frames are sent, by the present run, the last one or the next, and received.
func (p *port) path() string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	var instead error
	if p.play != nil {
		instead = p.play.instead
	} else {
		instead = preferLive(p)
	}
	sending := "live frames"
	if p.options.Batch > 0 {
		sending = fmt.Sprintf("live frames in batches of %d", p.options.Batch)
	}
	if instead != nil || p.play != nil && p.play.live == nil {
		sending = p.sending
		if p.play != nil && longest(p.play.tracks) > unix.Getpagesize() {
			sending = "AF_PACKET"
		}
	}
	if errors.Is(instead, errNotLive) {
		sending += " (" + instead.Error() + ")"
	}
	return "sends by " + sending + ", receives by " + p.receiving
}

func (p *port) Info() Info {
	return Info{Interface: p.name, Driver: p.nic.Driver, NIC: p.nic.Model, Firmware: p.nic.Firmware, MAC: p.mac, MTU: p.mtu, Speed: p.speed, LinkUp: p.link.up.Load(),
		LinkFlaps: p.link.flaps.Load(), Path: p.path(), ReceiveDrops: receiveDrops(p.nic.Driver), PauseFrames: pauseFrames(p.nic.Driver), Untimed: p.untimed(), ReceiveQueues: receiveQueues(p.name)}
}

// batch is how many live frames the kernel sends as one batch.
func (p *port) batch() int { return cmp.Or(p.options.Batch, liveBatch) }

// untimed is why this port can't time every frame by stamps; empty: it can. Several threads that share a stream don't send its frames in order.
func (p *port) untimed() string {
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
		p.sent.all.add(1, wireLength(len(f)))
		p.captures.offer(Frame{At: Now(), Sent: true, Bytes: append([]byte(nil), f...)})
	}
	return nil
}

// explain says what an error means that the kernel has for a frame of so many bytes without FCS: a virtual cable has no queue, so it is its far end that drops one.
func (p *port) explain(err error, length int) error {
	const leastMTU, ethernetHeader = 68, 14 // the first of IPv4 (RFC 791); shorter frames fit everywhere
	switch {
	case errors.Is(err, unix.EMSGSIZE):
		return fmt.Errorf("%w: its MTU is %d: ip link set %s mtu %d", ErrTooLong, p.mtu, p.name, length-ethernetHeader)
	case errors.Is(err, unix.ENOBUFS) && p.nic.Driver == "veth" && length > leastMTU+ethernetHeader:
		return fmt.Errorf("%w: the far end of this virtual cable takes less, or is down: set it up, with an MTU of at least %d", ErrTooLong, length-ethernetHeader)
	}
	return err
}

// ErrTooLong begins what is said of a frame that is longer than a port takes.
var ErrTooLong = errors.New("too long")

// emit sends one frame, padded to Ethernet's least.
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
	if err := p.look(); err != nil || n == nil {
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

func (p *port) captureChanged(any bool) error {
	p.mutex.Lock()
	p.capturing = any
	p.mutex.Unlock()
	return p.look()
}

func (p *port) SetPromiscuous(on bool) error {
	p.mutex.Lock()
	p.promiscuous = on
	p.mutex.Unlock()
	return p.look()
}

// look tells the receiver which frames to pass on at present.
func (p *port) look() error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.receiver.look(wanted{promiscuous: p.promiscuous, all: p.capturing, neighbours: p.local.Load() != nil})
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

// release closes whatever open has opened so far.
func (p *port) release() error {
	var errs []error
	if p.atRest != nil {
		p.atRest()
	}
	if p.receiver != nil {
		errs = append(errs, p.receiver.close())
	}
	for _, o := range []*outlets{p.short, p.long} {
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
