package profile

import (
	"fmt"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/units"
)

// LatencyStream is another stream's first flow, so many frames of it a second whatever the load is, whose receiver
// times each frame under the flow id. TRex writes its stamp over the end of the payload and leaves UDP's checksum
// as it was, so in IPv4 the frames have none.
func LatencyStream(template stream.Stream, id uint32, perSecond int64) (stream.Stream, error) {
	if room := payloadOf(template.Packet.Binary); room < latencyPayload {
		return stream.Stream{}, fmt.Errorf("frames of %d bytes have %d bytes of payload, of which it takes %d",
			len(template.Packet.Binary)+units.FCSBytes, max(room, 0), latencyPayload)
	}
	frame := append(slices.Clone(template.Packet.Binary),
		make([]byte, max(0, minWireBytes-len(template.Packet.Binary)))...)
	ip, _ := networkOf(frame)
	if l4, protocol := transportOf(frame); protocol == protocolUDP && ip < len(frame) && frame[ip]>>4 == 4 {
		frame[l4+6], frame[l4+7] = 0, 0
	}
	return stream.Stream{Enabled: true, SelfStart: true, Flags: template.Flags, CoreID: -1,
		NextStreamID: unlinkedStreamID,
		Mode:         stream.Mode{Type: modeContinuous, Rate: stream.Rate{Type: "pps", Value: float64(perSecond)}},
		Packet:       stream.Packet{Binary: frame}, FlowStats: stream.Flow{Enabled: true, StreamID: id,
			RuleType: ruleLatency}}, nil
}
