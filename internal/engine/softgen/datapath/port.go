package datapath

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// port is an open interface.
type port struct {
	device
	injector
	reception
	options     Options
	cpus        int         // processors that this process may use
	shortQueues *sendQueues // for frames up to a page
	longQueues  *sendQueues // for longer frames; opened when first needed
	sending     string      // the name of the path of queues
	receiving   string
	kernel      kernelCounters
	live        atomic.Pointer[liveRun] // the run in progress, if the kernel sends it

	sent   sendCounters
	behind atomic.Int64
	busy   atomic.Int64 // processor time of the sending threads, ns
	waits  processorWaits
	runs   atomic.Uint32
	// sendingTime is how long the latest run of finite streams took, in ns. It is 0 without such a run, and until
	// the run is over.
	sendingTime atomic.Int64

	releasePlaces func() // gives the sending threads' places in the scheduler back; nil without places

	mutex       sync.Mutex // guards the fields below
	closed      bool
	playback    *playback
	failure     error
	load        processorLoad
	driverDrops int64                   // the last result of sendDrops
	baseline    map[uint32]FlowCounters // the counters at the last ForgetFlows, which are subtracted
	flowIDs     map[uint32]bool         // of the runs so far
}

var _ Port = (*port)(nil)

// Open opens an interface in the calling thread's network namespace, and begins to receive on it. It needs
// CAP_NET_RAW. With CAP_BPF and CAP_NET_ADMIN as well, a program in the kernel counts frames, and frames aren't
// copied out of the kernel. Info().Path says which way is used.
func Open(options Options) (Port, error) {
	if options.Batch < 0 || options.Batch > MostBatch {
		return nil, fmt.Errorf("open %s: a batch of %d frames; it is 1 to %d, or 0 for %d", options.Interface,
			options.Batch, MostBatch, liveBatch)
	}
	p := &port{options: options, cpus: allowedProcessors, baseline: map[uint32]FlowCounters{},
		flowIDs: map[uint32]bool{}}
	if err := p.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", options.Interface, err), p.release())
	}
	p.releasePlaces = addSchedulerPlaces(max(options.Cores, 1))
	return p, nil
}

func (p *port) open() (err error) {
	p.injector = injector{device: &p.device, socket: -1, counter: &p.sent.total, observers: &p.captures}
	if err := p.device.open(p.options.Interface); err != nil {
		return err
	}
	p.kernel.index = p.index
	if err := p.kernel.open(); err != nil {
		return err
	}
	if p.socket, err = packetSocket(p.name, p.index); err != nil {
		return err
	}
	p.inbox, p.replies = newInbox(&p.reception), &p.injector
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
	played := p.playback
	if played != nil && played.trains != nil { // they have a path of their own
		played = nil
	}
	if played != nil {
		instead = played.liveRefusal
	} else {
		instead = refuseLive(p)
	}
	sending := "live frames"
	if p.options.Batch > 0 {
		sending = fmt.Sprintf("live frames in batches of %d", p.options.Batch)
	}
	if instead != nil || played != nil && played.live == nil {
		sending = p.sending
		if played != nil && longest(played.tracks) > unix.Getpagesize() {
			sending = "AF_PACKET"
		}
	}
	if errors.Is(instead, errNotLive) {
		sending += " (" + instead.Error() + ")"
	}
	return "sends by " + sending + ", receives by " + p.receiving
}

func (p *port) Info() Info {
	return Info{Interface: p.name, Driver: p.nic.Driver, NIC: p.nic.Model, Firmware: p.nic.Firmware, MAC: p.mac,
		MTU: p.mtu, Speed: p.speed, LinkUp: p.link.isUp.Load(),
		LinkFlaps: p.link.flaps.Load(), Path: p.path(), ReceiveDrops: receiveDrops(p.nic.Driver),
		PauseFrames: pauseFrames(p.nic.Driver), Untimed: p.stampObstacle(), ReceiveQueues: p.receiveQueues,
		Ring: p.ring, Cautions: p.cautions()}
}

// batch is how many live frames the kernel sends as one batch.
func (p *port) batch() int { return cmp.Or(p.options.Batch, liveBatch) }

// stampObstacle is why this port can't time every frame by stamps. It is empty for a port that can. Several
// threads that share a stream don't send its frames in order.
func (p *port) stampObstacle() string {
	switch {
	case p.options.Cores > 1:
		return fmt.Sprintf("%d threads share each stream and change its order, which would look like the "+
			"device's reordering: use one thread for each port to time every frame", p.options.Cores)
	case p.receiver.follower() == nil:
		return "it receives by " + p.receiving +
			", which doesn't follow stamps: eBPF does (CAP_BPF, CAP_NET_ADMIN and Linux 6.6)"
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
	p.kernel.close()
	return errors.Join(append(errs, p.injector.close(), p.device.close())...)
}
