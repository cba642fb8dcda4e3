package sessions

import (
	"net/netip"
	"time"

	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/host/signs"
	"github.com/linerate-dev/linerate/internal/measure"
)

// Version is the protocol between driver and ends. Each side refuses another one.
const Version = "linerate.dev/sessions.v1"

const (
	// DriverSilence is how long an end goes on without a request of its driver, which reads counters four times a
	// second. It is longer than the stalls of a busy machine.
	DriverSilence = 5 * time.Second
	// DataPort is where receivers listen, on their link's address. It is iperf3's port, which firewalls in labs let
	// through.
	DataPort = 5201
	// sampleEvery is how often an end samples what its connections wait for.
	sampleEvery = 20 * time.Millisecond
	// unanswered is how long a connection may send without an answer before its kernel closes it (TCP_USER_TIMEOUT).
	unanswered = 20 * time.Second
	// firstTTL is the time to live of packets that ends send. A router decrements it.
	firstTTL = 64
	// tokenBytes is the length of the token that a connection shows first, so that a foreign connection isn't
	// counted in the test.
	tokenBytes = 32
)

// The driver sends an end one request at a time, as a line of JSON, and the end answers with a line. The first
// request must be hello.
//
//	hello ▶ who answers           lay ▶ addresses, routes      listen ▶ ready for connections
//	connect ▶ all are open        came ▶ all have arrived      send ▶ they send, for a finite time
//	read ▶ counters               halt ▶ all are dropped
//	test ▶ a server's streams are open, and send      finish ▶ what the server counted
type request struct {
	Verb    string          `json:"do"`
	Hello   *hello          `json:"hello,omitempty"`
	Lay     *Network        `json:"lay,omitempty"`
	Listen  *listenRequest  `json:"listen,omitempty"`
	Connect *connectRequest `json:"connect,omitempty"`
	Send    *sendRequest    `json:"send,omitempty"`
	Read    *readRequest    `json:"read,omitempty"`
	Test    *testRequest    `json:"test,omitempty"`
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
	doTest    = "test"
	doFinish  = "finish"
)

// answer has the member that belongs to the request, or Error, or no member where there is nothing to report.
type answer struct {
	Error string `json:"error,omitempty"`
	Busy  bool   `json:"taken,omitempty"` // the error is that another driver has this end
	// Path says that the error is not the end's own, but of what the end sent or awaited through the device.
	Path bool `json:"path,omitempty"`
	// ServerBusy says that the error is that the server runs another test.
	ServerBusy bool `json:"serverBusy,omitempty"`

	Welcome *Welcome `json:"welcome,omitempty"`
	Laid    *Laid    `json:"laid,omitempty"`
	Opened  *Opened  `json:"opened,omitempty"`
	Reading *Reading `json:"reading,omitempty"`
	Counted *Counted `json:"counted,omitempty"`
}

// hello is a driver's first request.
type hello struct {
	Version string `json:"version"`
	// Link names the end that it wants, where several listen at one address.
	Link string `json:"link"`
	// Force takes the end from another driver.
	Force bool `json:"force,omitempty"`
}

// Welcome is an end's description of itself.
type Welcome struct {
	Product   string `json:"product"`
	Hostname  string `json:"hostname,omitempty"`
	Interface string `json:"interface"`
	MAC       string `json:"macAddress"`
	// Machine describes the end's machine. Driver, NIC and Firmware describe the interface's card. What the kernel
	// doesn't report is empty.
	Machine  machine.Machine `json:"machine,omitzero"`
	Driver   string          `json:"driver,omitempty"`
	NIC      string          `json:"nic,omitempty"`
	Firmware string          `json:"firmware,omitempty"`
}

// Network is the network that an end's interface gets.
type Network struct {
	Address netip.Prefix `json:"address"`
	// AsItIs says that offloads stay as they are, because the interface is the device's own, and its offloads are
	// part of what is measured, or because the end is Prepared.
	AsItIs bool `json:"asItIs,omitempty"`
	// Routes lead to the other links' networks by the device.
	Routes []Route `json:"routes,omitempty"`
	// Neighbours are known beforehand, so that no ARP or neighbour discovery is needed for them. The kernel resolves
	// others.
	Neighbours []Neighbour `json:"neighbours,omitempty"`
}

// Route leads to a network. Without Via the network is on the link.
type Route struct {
	Destination netip.Prefix `json:"to"`
	Via         netip.Addr   `json:"via,omitzero"`
}

// Neighbour is the MAC of an address on the link.
type Neighbour struct {
	Address netip.Addr `json:"address"`
	MAC     string     `json:"macAddress"`
}

// Laid is the result of setting up a Network.
type Laid struct {
	// Remarks name settings that could not be made, and change figures a little at most.
	Remarks []string `json:"remarks,omitempty"`
}

// Shape is how connections are made. It is the part of the Plan that an end needs.
type Shape struct {
	Connections int `json:"connections"`
	// WindowBytes is the size of each socket's buffers. 0 means the kernel's own, which grow.
	WindowBytes int64 `json:"windowBytes,omitempty"`
	// MessageBytes is the size of each write and read.
	MessageBytes int64 `json:"messageBytes"`
	// CongestionControl is its name in the kernel, or empty for the kernel's own choice.
	CongestionControl string `json:"congestionControl,omitempty"`
	// Application is plan.ApplicationIperf3 or ApplicationIperf2, or empty for a transfer of our own, over TCP. The
	// members below are for applications only.
	Application string `json:"application,omitempty"`
	Datagrams   bool   `json:"datagrams,omitempty"` // UDP
	// BitsPerSecond is the rate of payload that each connection sends, or 0 for as much as it can.
	BitsPerSecond int64 `json:"bitsPerSecond,omitempty"`
	// Lasts is how long payload is sent at most. Both ends agree on that beforehand.
	Lasts time.Duration `json:"lastsNanoseconds,omitempty"`
}

type listenRequest struct {
	Shape
	Token string `json:"token"`
}

type connectRequest struct {
	Shape
	Token  string     `json:"token"`
	Remote netip.Addr `json:"to"`
}

type sendRequest struct {
	Lasts time.Duration `json:"lastsNanoseconds"`
}

// readRequest says what to read in addition to an end's counters. Nil means nothing.
type readRequest struct {
	// Processors asks for the times of the processors of the end's machine.
	Processors bool `json:"processors,omitempty"`
	// Signs asks for the vital signs of the end's machine, of these types.
	Signs []string `json:"signs,omitempty"`
}

// Opened describes the connections of an end's direction, once they are open.
type Opened struct {
	Connections int        `json:"connections"`
	Local       netip.Addr `json:"local"`
	Remote      netip.Addr `json:"remote"`
	// Route is the kernel's route to the remote end, such as "via 198.18.0.1 dev west", from a sender only.
	Route     string `json:"route,omitempty"`
	Interface string `json:"interface"` // that they are bound to
	// SegmentBytes is the payload of a full segment, from a sender only.
	SegmentBytes int64 `json:"segmentBytes,omitempty"`
	// Application names the application that the connections are, if they aren't a transfer of linerate's own, from a
	// sender only.
	Application string `json:"application,omitempty"`
	// DatagramBytes is the payload of each UDP datagram, from a sender only.
	DatagramBytes int64 `json:"datagramBytes,omitempty"`
	// FramesEach is how many frames each datagram takes. Several are fragments.
	FramesEach int64 `json:"framesEach,omitempty"`
	// CongestionControl is the sender's.
	CongestionControl string `json:"congestionControl,omitempty"`
	// TTLs are the time to live of the first segments when they arrived, from a receiver only. They are empty if the
	// kernel doesn't keep them.
	TTLs []int `json:"ttls,omitempty"`
}

// Reading is an end's counters at a moment of its own clock, of the direction that it sends, and of the one that it
// receives. Nil means that there is none.
type Reading struct {
	ReadAt    time.Duration      `json:"atNanoseconds,omitempty"` // by the end's clock
	Sending   *measure.Sending   `json:"sending,omitempty"`
	Receiving *measure.Receiving `json:"receiving,omitempty"`
	// Drops is what the end itself dropped.
	Drops *measure.Drops `json:"drops,omitempty"`
	// Waits is how long the end's program waited for processors, or nil if unknown.
	Waits *measure.Waits `json:"waits,omitempty"`
	// Vitals are the times of the machine's processors, if the driver asked for them and the kernel reports them.
	Vitals *Vitals `json:"vitals,omitempty"`
	// Signs are the machine's vital signs, of the types that the driver Asked for.
	Signs []signs.Reading `json:"signs,omitempty"`
	Asked []string        `json:"-"`
}
