// Package sessions measures TCP and UDP between two ends of ours through the device: bulk transfers, whose goodput the receiver's program counts. Ends are one program per link,
// each in a network namespace with nothing of the test but its link (Ends); a driver (New) tells them what to do, over a connection that is not the test's.
//
//	              driver (runner.Driver)
//	     JSON lines │ over TCP   │ JSON lines
//	             ┌──┴───┐     ┌──┴───┐
//	             │ west │     │ east │      ends: Serve
//	             └──┬───┘     └──┬───┘
//	connections     └── device ──┘          each way: traffic.sessions.parallel of them, bound to the link's address and interface
//
// Nothing goes on sending after a crash: each transfer has a finite duration of its own, and an end drops all connections when its driver's connection closes or is
// silent for longer than DriverSilence. Connections are dropped by a reset, so that no kernel goes on with what is left in a buffer.
package sessions

import (
	"net/netip"
	"time"

	"github.com/linerate-dev/linerate/internal/machine"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/signs"
)

// Version is the protocol between driver and ends; either refuses another. VersionOfApplications is for what an end of the older one would take for its own transfer.
const (
	Version               = "linerate.dev/sessions.v1"
	VersionOfApplications = "linerate.dev/sessions.v2"
)

const (
	// DriverSilence is for how long an end goes on without a word of its driver, which reads counters four times a second. It is longer than a busy machine's stalls.
	DriverSilence = 5 * time.Second
	// DataPort is where receivers listen, on their link's address: iperf3's, which firewalls in labs know.
	DataPort = 5201
	// sampleEvery is how often an end looks at what its connections wait for.
	sampleEvery = 20 * time.Millisecond
	// unanswered is for how long a connection may have sent without an answer before its kernel gives it up (TCP_USER_TIMEOUT).
	unanswered = 20 * time.Second
	// firstTTL is the time to live of what ends send; a router takes one off.
	firstTTL = 64
	// tokenBytes is the length of what a connection shows first, so that nobody else's is taken for the test's.
	tokenBytes = 32
)

// The driver says one thing at a time to an end, a line of JSON, and the end answers with a line. Only hello comes unasked: it must be first.
//
//	hello ▶ who is there          lay ▶ addresses, routes      listen ▶ ready for connections
//	connect ▶ they stand          came ▶ those that came       send ▶ they send, for so long
//	read ▶ counters               halt ▶ nothing stands any more
type request struct {
	Do      string          `json:"do"`
	Hello   *hello          `json:"hello,omitempty"`
	Lay     *Network        `json:"lay,omitempty"`
	Listen  *listenRequest  `json:"listen,omitempty"`
	Connect *connectRequest `json:"connect,omitempty"`
	Send    *sendRequest    `json:"send,omitempty"`
	Read    *readRequest    `json:"read,omitempty"`
}

// The verbs.
const (
	doHello   = "hello"
	doLay     = "lay"
	doListen  = "listen"
	doConnect = "connect"
	doCame    = "came"
	doSend    = "send"
	doRead    = "read"
	doHalt    = "halt"
)

// answer has the member that was asked for, or Error; none where there is nothing to say.
type answer struct {
	Error string `json:"error,omitempty"`
	Taken bool   `json:"taken,omitempty"` // the error is that another driver has this end
	// Path: the error is not the end's own, but of what it sent or awaited through the device. Nil: the end doesn't know whose it is, as those of an older linerate
	// don't, which speak the same Version.
	Path    *bool    `json:"path,omitempty"`
	Welcome *Welcome `json:"welcome,omitempty"`
	Laid    *Laid    `json:"laid,omitempty"`
	Opened  *Opened  `json:"opened,omitempty"`
	Reading *Reading `json:"reading,omitempty"`
}

// hello is what a driver says first.
type hello struct {
	Version string `json:"version"`
	// Link is whose end it wants, where several listen in one place.
	Link string `json:"link"`
	// Force takes the end from another driver.
	Force bool `json:"force,omitempty"`
}

// Welcome is what an end says of itself.
type Welcome struct {
	Product   string `json:"product"`
	Hostname  string `json:"hostname,omitempty"`
	Interface string `json:"interface"`
	MAC       string `json:"macAddress"`
	// Machine is what the end runs on, Driver, NIC and Firmware what is behind the interface; what the kernel doesn't tell is empty.
	Machine  machine.Machine `json:"machine,omitzero"`
	Driver   string          `json:"driver,omitempty"`
	NIC      string          `json:"nic,omitempty"`
	Firmware string          `json:"firmware,omitempty"`
}

// Network is what an end's interface is to have.
type Network struct {
	Address netip.Prefix `json:"address"`
	// AsItIs: the interface is the device's own, whose offloads are a part of what is measured.
	AsItIs bool `json:"asItIs,omitempty"`
	// Routes lead to the other links' networks by the device.
	Routes []Route `json:"routes,omitempty"`
	// Neighbours are known beforehand, so that no ARP or neighbour discovery is in the way; others are asked for by the kernel.
	Neighbours []Neighbour `json:"neighbours,omitempty"`
}

// Route leads to a network; without Via it is on the link.
type Route struct {
	To  netip.Prefix `json:"to"`
	Via netip.Addr   `json:"via,omitzero"`
}

// Neighbour is who has an address on the link.
type Neighbour struct {
	Address netip.Addr `json:"address"`
	MAC     string     `json:"macAddress"`
}

// Laid is what became of it.
type Laid struct {
	// Remarks are what could not be had, and changes what is measured at most a little.
	Remarks []string `json:"remarks,omitempty"`
}

// Shape is how connections are made: the Plan's part that an end needs.
type Shape struct {
	Connections int `json:"connections"`
	// WindowBytes is the size of each socket's buffers; 0: the kernel's own, which grow.
	WindowBytes int64 `json:"windowBytes,omitempty"`
	// MessageBytes is how much is written and read at a time.
	MessageBytes int64 `json:"messageBytes"`
	// CongestionControl is the kernel's name of it; empty: the kernel's own choice.
	CongestionControl string `json:"congestionControl,omitempty"`
	// Application is plan.ApplicationIperf3 or ApplicationIperf2, or empty: a transfer of our own, over TCP. What follows is of applications only.
	Application string `json:"application,omitempty"`
	Datagrams   bool   `json:"datagrams,omitempty"` // UDP
	// BitsPerSecond is the payload that each connection is to carry; 0: all that it can.
	BitsPerSecond int64 `json:"bitsPerSecond,omitempty"`
	// Lasts is for how long payload goes at most: both ends agree on that beforehand.
	Lasts time.Duration `json:"lastsNanoseconds,omitempty"`
}

type listenRequest struct {
	Shape
	Token string `json:"token"`
}

type connectRequest struct {
	Shape
	Token string     `json:"token"`
	To    netip.Addr `json:"to"`
}

type sendRequest struct {
	Lasts time.Duration `json:"lastsNanoseconds"`
}

// readRequest is what is wanted beside an end's counters; without it there is nothing.
type readRequest struct {
	// Processors: how those of the end's machine spend their time.
	Processors bool `json:"processors,omitempty"`
	// Signs: what the end's machine tells of itself besides, of these types.
	Signs []string `json:"signs,omitempty"`
}

// Opened is what the connections of an end's direction are like, once they stand.
type Opened struct {
	Connections int        `json:"connections"`
	Local       netip.Addr `json:"local"`
	Remote      netip.Addr `json:"remote"`
	// Route is what the kernel answers for the way to the remote end, as "via 198.18.0.1 dev west"; only of a sender.
	Route     string `json:"route,omitempty"`
	Interface string `json:"interface"` // that they are bound to
	// SegmentBytes is the payload of a full segment; only of a sender.
	SegmentBytes int64 `json:"segmentBytes,omitempty"`
	// Application is whose connections they are, where they are not the test's own; only of a sender.
	Application string `json:"application,omitempty"`
	// DatagramBytes is the payload of each datagram, where it is UDP; only of a sender.
	DatagramBytes int64 `json:"datagramBytes,omitempty"`
	// FramesEach is in how many frames each datagram is sent; more than one are fragments.
	FramesEach int64 `json:"framesEach,omitempty"`
	// CongestionControl is the sender's.
	CongestionControl string `json:"congestionControl,omitempty"`
	// TTLs are those of the first segments, as they came; only of a receiver. Empty: the kernel doesn't keep them.
	TTLs []int `json:"ttls,omitempty"`
}

// Reading is an end's counters by a moment of its own clock: of the direction that it sends, and of the one that it receives; nil: it does not.
type Reading struct {
	At        time.Duration      `json:"atNanoseconds,omitempty"` // by the end's clock
	Sending   *measure.Sending   `json:"sending,omitempty"`
	Receiving *measure.Receiving `json:"receiving,omitempty"`
	// Drops is what the end itself threw away; nil: it is of a linerate that doesn't tell.
	Drops *measure.Drops `json:"drops,omitempty"`
	// Waits is for how long the end's program waited for processors; nil: it doesn't tell.
	Waits *measure.Waits `json:"waits,omitempty"`
	// Vitals are the machine's, where the driver asks for them and the kernel tells.
	Vitals *Vitals `json:"vitals,omitempty"`
	// Signs are what the machine tells of itself besides, of what the driver asks for.
	Signs []signs.Reading `json:"signs,omitempty"`
}
