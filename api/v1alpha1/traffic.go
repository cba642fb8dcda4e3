package v1alpha1

// Profile is a kind of traffic.
//
// +kubebuilder:validation:Enum=IMIX;FixedSize;Mix;Streams;PCAP
type Profile string

// The profiles.
const (
	// ProfileIMIX mixes 64-byte, 594-byte and 1518-byte frames at 28:16:4.
	ProfileIMIX Profile = "IMIX"
	// ProfileFixedSize has frames of one size.
	ProfileFixedSize Profile = "FixedSize"
	// ProfileMix mixes frames of given sizes by given weights.
	ProfileMix Profile = "Mix"
	// ProfileStreams sends TRex streams as they are.
	ProfileStreams Profile = "Streams"
	// ProfilePCAP sends the frames of a capture, between the links' networks.
	ProfilePCAP Profile = "PCAP"
)

// TrafficType is what traffic is made of.
//
// +kubebuilder:validation:Enum=Frames;Sessions
type TrafficType string

// The types of traffic.
const (
	// TrafficFrames are frames that generators make, one by one.
	TrafficFrames TrafficType = "Frames"
	// TrafficSessions are bulk transfers over TCP or UDP between programs at the links' ends.
	TrafficSessions TrafficType = "Sessions"
)

// Stamps says which frames carry their number and sending time.
//
// +kubebuilder:validation:Enum=None;EveryFrame
type Stamps string

// The stamps.
const (
	// StampsNone leaves frames as the profile has them.
	StampsNone Stamps = "None"
	// StampsEveryFrame writes a stamp into the last 16 bytes of each frame's payload.
	StampsEveryFrame Stamps = "EveryFrame"
)

// TrafficSpec is what is sent, and which way.
//
// +kubebuilder:validation:XValidation:rule="self.?type.orValue('Frames') == 'Sessions' || !has(self.sessions)",fieldPath=".sessions",message="set type: Sessions, or remove sessions"
// +kubebuilder:validation:XValidation:rule="(self.profile == 'FixedSize') == has(self.frameSize)",fieldPath=".frameSize",message="profile FixedSize needs frameSize, such as 64 (bytes, FCS included); every other profile forbids it"
// +kubebuilder:validation:XValidation:rule="self.profile == 'Mix' ? has(self.mix) != has(self.genome) : !has(self.mix) && !has(self.genome)",fieldPath=".mix",message="profile Mix needs mix, such as [{frameSize: 64, weight: 7}, {frameSize: 1518, weight: 1}], or genome, such as aaaafg; every other profile forbids both"
// +kubebuilder:validation:XValidation:rule="(self.profile == 'Streams') == has(self.streams)",fieldPath=".streams",message="profile Streams needs streams.json; every other profile forbids it"
// +kubebuilder:validation:XValidation:rule="(self.profile == 'PCAP') == has(self.pcap)",fieldPath=".pcap",message="profile PCAP needs pcap, such as {file: office.pcap}; every other profile forbids it"
type TrafficSpec struct {
	// type is Frames (default) or Sessions: transfers over TCP or UDP, with engine Software and procedure ConstantLoad.
	// +optional
	Type TrafficType `json:"type,omitempty"`

	// sessions configures type Sessions.
	// +optional
	Sessions *SessionsSpec `json:"sessions,omitempty"`

	// profile is IMIX (64, 594 and 1518 bytes at 28:16:4), FixedSize (with frameSize), Mix (mix), Streams
	// (streams) or PCAP (pcap).
	// +optional
	// +kubebuilder:default=IMIX
	Profile Profile `json:"profile,omitempty"`

	// frameSize is bytes with FCS. Example: 64.
	// +optional
	// +kubebuilder:validation:Minimum=64
	// +kubebuilder:validation:Maximum=9216
	FrameSize int32 `json:"frameSize,omitempty"`

	// mix is for profile Mix. Example: [{frameSize: 64, weight: 7}, {frameSize: 1518, weight: 1}].
	// +optional
	// +listType=map
	// +listMapKey=frameSize
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Mix []MixEntry `json:"mix,omitempty"`

	// genome is instead of mix: a letter for each frame, by RFC 6985 (a: 64, b: 128, c: 256, d: 512, e: 1024, f: 1280,
	// g: 1518, h: 2112, i: 9000). Their order isn't kept. Example: aaaafg.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^[a-i]+$`
	Genome string `json:"genome,omitempty"`

	// streams are for profile Streams.
	// +optional
	Streams *StreamsSpec `json:"streams,omitempty"`

	// pcap is for profile PCAP.
	// +optional
	PCAP *PCAPSpec `json:"pcap,omitempty"`

	// flows tell frames apart. Default: 254 by both addresses.
	// +optional
	Flows *FlowsSpec `json:"flows,omitempty"`

	// stamps EveryFrame ends each frame with its number and time, for latency and reordering, with engine Software
	// (docs/latency.md). Default: None.
	// +optional
	Stamps Stamps `json:"stamps,omitempty"`

	// directions are traffic's ways; more than two links need them. Default: both. Example: [{from: west, to: east}].
	// +optional
	// +listType=map
	// +listMapKey=from
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Directions []Direction `json:"directions,omitempty"`

	// ipv6Share is how many frames are IPv6, in whole percent, on links of both families. Default: 50%. Example: 12%.
	// +optional
	IPv6Share Share `json:"ipv6Share,omitempty"`

	// allowedPrefixes are allowed beside the networks made for measuring (198.18.0.0/15, 16.0.0.0/8, 48.0.0.0/8,
	// 2001:2::/48). Example: [10.1.0.0/16].
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	AllowedPrefixes []Network `json:"allowedPrefixes,omitempty"`
}

// SessionProtocol is what sessions speak.
//
// +kubebuilder:validation:Enum=TCP;UDP
type SessionProtocol string

// The protocols of sessions.
const (
	// ProtocolTCP is TCP, of the kernels that the ends run on.
	ProtocolTCP SessionProtocol = "TCP"
	// ProtocolUDP is UDP, whose datagrams are iperf3's.
	ProtocolUDP SessionProtocol = "UDP"
)

// SessionApplication is what the programs at the ends of sessions speak.
//
// +kubebuilder:validation:Enum=Iperf3;Iperf2
type SessionApplication string

// The applications.
const (
	// ApplicationIperf3 is iperf3's protocol, which linerate speaks itself at both ends.
	ApplicationIperf3 SessionApplication = "Iperf3"
	// ApplicationIperf2 is the program iperf, version 2, of the machine of linerate run.
	ApplicationIperf2 SessionApplication = "Iperf2"
)

// SessionsSpec is what sessions are like.
type SessionsSpec struct {
	// application is Iperf3 (built in) or Iperf2. Default: of TCP a transfer at no rate, of UDP Iperf3.
	// +optional
	Application SessionApplication `json:"application,omitempty"`

	// protocol is TCP or UDP.
	// +optional
	// +kubebuilder:default=TCP
	Protocol SessionProtocol `json:"protocol,omitempty"`

	// parallel connections are in each direction.
	// +optional
	// +kubebuilder:default=4
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=128
	Parallel int32 `json:"parallel,omitempty"`

	// window is the size of each end's buffers. Default: the kernel's. Example: 1Mi.
	// +optional
	Window SessionSize `json:"window,omitempty"`

	// messageSize is written at a time; of UDP a datagram's payload. Default: 128Ki, of UDP 1460. Example: "1400".
	// +optional
	MessageSize MessageSize `json:"messageSize,omitempty"`

	// congestionControl is the senders'. Default: their own. Example: cubic.
	// +optional
	// +kubebuilder:validation:MaxLength=15
	// +kubebuilder:validation:Pattern=`^[a-z0-9][a-z0-9_-]*$`
	CongestionControl string `json:"congestionControl,omitempty"`
}

// MessageSize is the size of a message: 1400, 128Ki, 1Mi.
//
// +kubebuilder:validation:Pattern=`^[1-9][0-9]{0,5}(Ki|Mi)?$`
type MessageSize string

// SessionSize is an amount of payload: 128Ki, 1Mi.
//
// +kubebuilder:validation:Pattern=`^[1-9][0-9]{0,5}(Ki|Mi)$`
type SessionSize string

// MixEntry is one frame size of a mix.
type MixEntry struct {
	// frameSize is in bytes with FCS. Example: 594.
	// +required
	// +kubebuilder:validation:Minimum=64
	// +kubebuilder:validation:Maximum=9216
	FrameSize int32 `json:"frameSize"`

	// weight is its part of all frames, beside the others' weights. Example: 16.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Weight int32 `json:"weight"`
}

// StreamsSpec are TRex streams as they are.
type StreamsSpec struct {
	// json is a list of TRex streams, as for add_stream. Rates are proportions of the load. Example: '[{"enabled":
	// true, "self_start": true, ...}]'.
	// +required
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=262144
	JSON string `json:"json"`
}

// PCAPSpec is a capture (pcap or pcapng, packed with gzip or not) whose sizes, flows and protocols are sent, with
// addresses of the links' networks.
//
// +kubebuilder:validation:XValidation:rule="has(self.file) != has(self.data)",message="give file (with linerate run) or data (what linerate mix --pcap FILE prints)"
type PCAPSpec struct {
	// file is what linerate run reads, from the folder of the LoadTest's file. Example: office.pcap.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	File string `json:"file,omitempty"`

	// data is the capture itself in base64, as linerate mix --pcap FILE prints it.
	// +optional
	// +kubebuilder:validation:MinLength=4
	// +kubebuilder:validation:MaxLength=262144
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9+/]+=*$`
	Data string `json:"data,omitempty"`
}

// FlowField is where flows differ.
//
// +kubebuilder:validation:Enum=SourceAddress;DestinationAddress;SourcePort;DestinationPort
type FlowField string

// The fields in which flows can differ.
const (
	// VarySourceAddress walks through the near link's networks.
	VarySourceAddress FlowField = "SourceAddress"
	// VaryDestinationAddress walks through the far link's networks.
	VaryDestinationAddress FlowField = "DestinationAddress"
	// VarySourcePort walks through UDP source ports.
	VarySourcePort FlowField = "SourcePort"
	// VaryDestinationPort walks through UDP destination ports.
	VaryDestinationPort FlowField = "DestinationPort"
)

// FlowOrder is the order in which flows take turns.
//
// +kubebuilder:validation:Enum=Sequential;Random
type FlowOrder string

// The orders of flows.
const (
	// FlowsSequential sends a frame of each flow, then a frame of each once more.
	FlowsSequential FlowOrder = "Sequential"
	// FlowsRandom draws each frame's flow.
	FlowsRandom FlowOrder = "Random"
)

// FlowsSpec says how many flows there are, and what tells them apart.
type FlowsSpec struct {
	// count is per direction. Example: 254.
	// +optional
	// +kubebuilder:default=254
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=16777216
	Count int64 `json:"count,omitempty"`

	// fields differ. Default: both addresses, with order Random [DestinationAddress]. Example: [SourcePort].
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	Fields []FlowField `json:"fields,omitempty"`

	// order is Sequential (default) or Random, with one field and IPv4. Example: Random.
	// +optional
	Order FlowOrder `json:"order,omitempty"`
}

// Direction is traffic from one link to another.
type Direction struct {
	// from is the link on which the frames are sent, or dut of role Endpoint. Example: west.
	// +required
	From LinkName `json:"from"`

	// to is where they go, or dut. Example: east.
	// +required
	To LinkName `json:"to"`

	// rate is this direction's own, with procedure ConstantLoad. Default: constantLoad.rate. Example: 50mbps.
	// +optional
	Rate Rate `json:"rate,omitempty"`
}
