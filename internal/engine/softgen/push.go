package softgen

import (
	"encoding/base64"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/softgen/fieldengine"
)

// maxPush is how long the frames of one request may take. The server answers no other request meanwhile.
const maxPush = time.Second

// push answers push_pkts. It sends each frame once, unchanged, out of a port that plays nothing (unless forced).
func (t *traffic) push(port *port, p *params) (any, error) {
	gap, force := optional(p, "ipg_usec", 0, p.real), p.flag("force")
	frames := readFrames(p, port)
	if err := p.failed(); err != nil {
		return nil, err
	}
	if !force {
		if err := port.requireIdle("push_pkts"); err != nil {
			return nil, err
		}
	}
	if duration := gap / 1e6 * float64(len(frames)); gap < 0 || duration > maxPush.Seconds() {
		return nil, refused("%d frames %s us apart take %s s; one request may take %v", len(frames), plain(gap),
			plain(duration), maxPush)
	}
	if err := port.path.Inject(frames, time.Duration(gap*float64(time.Microsecond))); err != nil {
		return nil, refusedBy(err)
	}
	return object{"sent": len(frames), "ts": t.clock.seconds()}, nil
}

func readFrames(p *params, port *port) [][]byte {
	var frames [][]byte
	for _, inner := range p.objects("pkts") {
		frames = append(frames, readFrame(inner, port))
	}
	return frames
}

func readFrame(p *params, port *port) []byte {
	frame, err := base64.StdEncoding.DecodeString(p.text("binary"))
	if err != nil || len(frame) < fieldengine.MinTemplate || len(frame) > fieldengine.MaxFrame {
		p.fail("'binary' must be the base64 of %d to %d bytes", fieldengine.MinTemplate, fieldengine.MaxFrame)
		return nil
	}
	if p.flag("use_port_dst_mac") {
		if !port.addressing.resolved {
			p.fail("port %d has no destination MAC: set_l2 or set_l3 with a resolved_mac first", port.index)
		}
		copy(frame, port.addressing.nextHop[:])
	}
	if p.flag("use_port_src_mac") {
		source := port.path.Info().MAC
		copy(frame[6:], source[:])
	}
	return frame
}
