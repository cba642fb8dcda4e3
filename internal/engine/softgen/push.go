package softgen

import (
	"encoding/base64"
	"time"
)

// maxPush is how long frames pushed in one request may take, since the server answers no other request meanwhile.
const maxPush = time.Second

// pushPackets is push_pkts: it sends frames as they are, once, out of a port that plays nothing (unless forced).
func (s *Server) pushPackets(p *params) (any, error) {
	at, err := s.port(p)
	if err != nil {
		return nil, err
	}
	gap, force := p.realOr("ipg_usec", 0), p.flag("force")
	frames := readFrames(p, at)
	if err := p.failed(); err != nil {
		return nil, err
	}
	if !force {
		if err := at.mustBeQuiet("push_pkts"); err != nil {
			return nil, err
		}
	}
	if takes := gap / 1e6 * float64(len(frames)); gap < 0 || takes > maxPush.Seconds() {
		return nil, refused("%d frames %s us apart take %s s; one request may take %v", len(frames), plain(gap), plain(takes), maxPush)
	}
	if err := at.path.Inject(frames, time.Duration(gap*float64(time.Microsecond))); err != nil {
		return nil, refusedBy(err)
	}
	return object{"sent": len(frames), "ts": s.seconds()}, nil
}

func readFrames(p *params, at *port) [][]byte {
	var frames [][]byte
	for _, text := range p.list("pkts") {
		one, err := readObject(text)
		if err != nil {
			p.fail("'pkts' must hold objects")
			break
		}
		one.wrong = p.wrong
		frames = append(frames, readFrame(one, at))
	}
	return frames
}

func readFrame(p *params, at *port) []byte {
	frame, err := base64.StdEncoding.DecodeString(p.text("binary"))
	if err != nil || len(frame) < minTemplate || len(frame) > maxTemplate {
		p.fail("'binary' must be the base64 of %d to %d bytes", minTemplate, maxTemplate)
		return nil
	}
	if p.flag("use_port_dst_mac") {
		if !at.layer.resolved {
			p.fail("port %d has no destination MAC: set_l2 or set_l3 with a resolved_mac first", at.index)
		}
		copy(frame, at.layer.nextHop[:])
	}
	if p.flag("use_port_src_mac") {
		own := at.path.Info().MAC
		copy(frame[6:], own[:])
	}
	return frame
}
