package softgen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
	"github.com/linerate-dev/linerate/internal/engine/trex/zmtp"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/units"
)

// DefaultSpeed is the line rate of a port without one. TRex reports the same for a kernel interface.
const DefaultSpeed = 10 * units.Gbps

// PortConfig is one port of the server. Its index in Config.Ports is its port_id.
type PortConfig struct {
	Port datapath.Port
	// Speed is the layer-1 line rate, which percentages and the check against overload refer to. 0 means the
	// interface's speed, or else DefaultSpeed.
	Speed units.BitRate
	// Cores is how many threads send on this port. It is only reported, and 0 means 1.
	Cores int
	// NextHop is the destination MAC of streams that don't bring their own, until a client sets another. Zero
	// means that no next hop is known.
	NextHop [6]byte
}

// Config says what a Server serves.
type Config struct {
	Ports []PortConfig
	// Version is the software engine's own. get_version returns it together with the TRex version whose RPC the
	// engine speaks.
	Version string
	// Heartbeat is the time without a request with a valid api_h after which all traffic is stopped. 0 means never.
	Heartbeat time.Duration
	// AllowShutdown lets the RPC "shutdown" end Serve.
	AllowShutdown bool
	// Now is the clock of ping, of start_at_ts and of counters, and must be the data path's. The default is
	// datapath.Now.
	Now func() time.Duration
	// Processors reads how each of the machine's processors spent its time. The default asks the kernel.
	Processors func() ([]machine.Processor, error)
	// Signs reads the machine's vital signs. The default asks the kernel.
	Signs *machine.SignsReader
	// Stolen reads how much processor time the machine's host took since the machine's start. The default is the
	// mean of the processors that this process may use.
	Stolen func([]machine.Processor) (time.Duration, error)
	// Log gets state changes. Nil drops them.
	Log *slog.Logger
	// Hostname and Machine are reported. The defaults are the system's own.
	Hostname string
	Machine  machine.Machine
	// Started is reported as the server's start. The default is the present time.
	Started time.Time
}

// Server answers the RPC for its ports. All its methods are safe for concurrent use, and requests are answered
// one at a time.
type Server struct {
	cfg      Config
	commands map[string]command
	apiH     string
	beats    chan struct{}

	mu             sync.Mutex // guards the fields below
	zipper         zipper
	ports          ports
	info           serverInfo
	ownership      ownership
	events         events
	settings       portSettings
	loader         streamLoader
	traffic        traffic
	trains         trains
	captures       captures
	statistics     statistics
	flowStatistics flowStatistics
	end            func() // ends Serve
}

// clock is the server's clock, which is the data path's.
type clock func() time.Duration

func (c clock) seconds() real { return real(c().Seconds()) }

// New makes a server for the ports. The caller closes the ports.
func New(cfg Config) (*Server, error) {
	if len(cfg.Ports) == 0 {
		return nil, errors.New("software engine: no ports")
	}
	if len(cfg.Ports) > 255 {
		return nil, fmt.Errorf("software engine: %d ports, and a port_id is one byte", len(cfg.Ports))
	}
	cfg = withDefaults(cfg)
	s := &Server{cfg: cfg, apiH: secret(), beats: make(chan struct{}, 1), end: func() {}}
	for i, c := range cfg.Ports {
		if c.Port == nil {
			return nil, fmt.Errorf("software engine: port %d is nil", i)
		}
		s.ports = append(s.ports, newPort(i, c))
	}
	serverClock, flows := clock(cfg.Now), newFlows()
	s.info = serverInfo{cfg: cfg, handle: s.apiH, clock: serverClock, ports: s.ports}
	s.events = events{clock: serverClock, ports: s.ports, mailboxes: map[uint32]*mailbox{}}
	s.ownership = ownership{events: &s.events}
	s.captures = captures{ports: s.ports, clock: serverClock, open: map[uint32]*recording{}}
	s.settings = portSettings{flows: flows, captures: &s.captures}
	s.loader = streamLoader{ports: s.ports, flows: flows}
	s.traffic = traffic{
		ports: s.ports, flows: flows, events: &s.events, loader: &s.loader, clock: serverClock, log: cfg.Log,
	}
	s.trains = trains{ports: s.ports, traffic: &s.traffic, records: map[*port]datapath.TrainRecord{}}
	s.statistics = statistics{
		ports: s.ports, clock: serverClock, signs: cfg.Signs,
		vitals: vitals{read: cfg.Processors}, theft: theft{read: cfg.Stolen},
	}
	s.flowStatistics = flowStatistics{ports: s.ports, flows: flows, clock: serverClock}
	s.commands = s.newCommands()
	return s, nil
}

func withDefaults(cfg Config) Config {
	if cfg.Now == nil {
		cfg.Now = datapath.Now
	}
	if cfg.Stolen == nil {
		cfg.Stolen = stolen
	}
	if cfg.Processors == nil {
		cfg.Processors = machine.AllProcessors
	}
	cfg.Signs, cfg.Log = cmp.Or(cfg.Signs, &machine.SignsReader{}), cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	if cfg.Hostname == "" {
		cfg.Hostname, _ = os.Hostname()
	}
	if cfg.Machine == (machine.Machine{}) {
		cfg.Machine = machine.Local()
	}
	if cfg.Started.IsZero() {
		cfg.Started = time.Now()
	}
	return cfg
}

// Serve answers on the listener until ctx ends, or until a client shuts the server down and may do so. Then it stops
// all traffic, ends all captures, closes the listener and all connections, and returns. Serve once per Server.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.mu.Lock()
	s.end = cancel
	s.mu.Unlock()

	var watch sync.WaitGroup
	watch.Go(func() { s.watchHeartbeat(ctx) })
	err := zmtp.Serve(ctx, listener, func(_ context.Context, request []byte) []byte { return s.Handle(request) })
	cancel()
	watch.Wait()
	return errors.Join(err, s.close())
}

// close stops all traffic, trains and captures.
func (s *Server) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.captures.removeAll()
	return errors.Join(s.traffic.stopAll("the server ends"), s.trains.endAll())
}

// Handle answers one request as it comes out of a message. It is the whole server except for the transport.
func (s *Server) Handle(request []byte) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.traffic.observePorts()
	s.statistics.unreadCounters = nil
	return answer(request, s.call, &s.zipper)
}

// shutdown answers shutdown, if the configuration allows it.
func (s *Server) shutdown(p *params) (any, error) {
	user, force := p.text("user"), p.flag("force")
	if err := p.failed(); err != nil {
		return nil, err
	}
	if !s.cfg.AllowShutdown {
		return nil, refused("shutdown by RPC is not enabled on this server: end its process instead")
	}
	for _, port := range s.ports {
		if port.owner.handler != "" && !force {
			return nil, refused("port %d is owned by '%s' - specify 'force' for override", port.index, port.owner.user)
		}
	}
	s.cfg.Log.Info("shut down by a client", "user", user)
	s.end()
	return object{}, nil
}
