package launch

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/host/credential"
)

// The heartbeat's protocol is lines of text over TCP, on a port of its own:
//
//	launcher ─▶ runner   one line, the Report as JSON
//	runner ─▶ launcher   "beat", once a second (every line counts, whatever it says)
//
// The listener has the runner prove the attempt's key first (package credential). Otherwise a stranger could
// keep the traffic of a dead runner alive.
const (
	// HeartbeatPort is the launcher's TCP port for it.
	HeartbeatPort = 4502

	maxLineBytes   = 256              // bytes in a line
	maxConnections = 16               // connections at a time
	idleConnection = time.Minute      // a connection without a beat for so long is closed
	helloTimeout   = 10 * time.Second // for the peer to read the first line, or a beat
)

// ReceiveHeartbeats answers on l until ctx ends, sends hello on each connection, and calls record for each
// line. It returns when all connections are closed.
func ReceiveHeartbeats(ctx context.Context, l net.Listener, hello Report, record func()) error {
	line, err := json.Marshal(hello)
	if err != nil {
		return fmt.Errorf("heartbeat: %w", err)
	}
	var hearts sync.WaitGroup
	defer hearts.Wait()
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	places := make(chan struct{}, maxConnections)
	for {
		conn, err := l.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("heartbeat: %w", err)
		}
		select {
		case places <- struct{}{}:
			hearts.Go(func() {
				defer func() { <-places }()
				receiveFrom(ctx, conn, append(line, '\n'), record)
			})
		default:
			_ = conn.Close()
		}
	}
}

func receiveFrom(ctx context.Context, conn net.Conn, hello []byte, record func()) {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	defer func() { _ = conn.Close() }()
	if conn.SetWriteDeadline(time.Now().Add(helloTimeout)) != nil {
		return
	}
	if _, err := conn.Write(hello); err != nil {
		return
	}
	lines := bufio.NewReaderSize(conn, maxLineBytes)
	for {
		if conn.SetReadDeadline(time.Now().Add(idleConnection)) != nil {
			return
		}
		if _, err := lines.ReadSlice('\n'); err != nil {
			return
		}
		record()
	}
}

// HeartbeatConn is the runner's end of a heartbeat.
type HeartbeatConn struct {
	conn   net.Conn
	key    credential.Key
	report Report
}

// maxReportBytes bounds the launcher's first line.
const maxReportBytes = 1 << 20

// DialHeartbeat reaches a launcher, proves the key to it, and reads its Report.
func DialHeartbeat(ctx context.Context, address string, key credential.Key) (*HeartbeatConn, error) {
	conn, err := key.Dial(ctx, credential.Heartbeat, address)
	if err != nil {
		return nil, fmt.Errorf("heartbeat: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	line, err := bufio.NewReaderSize(conn, maxReportBytes).ReadSlice('\n')
	h := &HeartbeatConn{conn: conn, key: key}
	if err == nil {
		err = json.Unmarshal(line, &h.report)
	}
	if err == nil && h.report.Version != ReportVersion {
		err = fmt.Errorf("it speaks %q, and %s is needed", h.report.Version, ReportVersion)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("heartbeat of %s: %w", address, err), conn.Close())
	}
	return h, nil
}

// Report is what the launcher said of its devices.
func (h *HeartbeatConn) Report() Report { return h.report }

// Send sends one beat. An error means that the connection is broken.
func (h *HeartbeatConn) Send() error {
	if err := h.conn.SetWriteDeadline(time.Now().Add(helloTimeout)); err != nil {
		return fmt.Errorf("beat: %w", err)
	}
	if _, err := h.conn.Write([]byte("beat\n")); err != nil {
		return fmt.Errorf("beat: %w", err)
	}
	return nil
}

// Close ends the connection. The launcher stops no traffic before its timeout.
func (h *HeartbeatConn) Close() error { return h.conn.Close() }

// heartbeatTiming says when SendHeartbeats sends, and when it gives up.
type heartbeatTiming struct {
	interval time.Duration // between two beats
	pause    time.Duration // between two tries to reach the launcher again
	patience time.Duration // for all tries
}

// defaultTiming is for launchers that stop all traffic after DefaultHeartbeatTimeout. The runner gives up
// earlier, so that it knows before the traffic stops.
func defaultTiming() heartbeatTiming {
	return heartbeatTiming{time.Second, 500 * time.Millisecond, DefaultHeartbeatTimeout - 2*time.Second}
}

// ErrLauncherLost means that the launcher can't be reached any more, or that another one answers. The traffic
// has stopped, or is about to.
var ErrLauncherLost = errors.New("the generator's launcher is lost")

// SendHeartbeats sends beats until ctx ends (nil), and closes the connection. It reports a broken connection,
// and dials again. The error is ErrLauncherLost if the launcher can't be reached for almost as long as it waits
// for a beat, or if the launcher that answers was started anew.
func SendHeartbeats(ctx context.Context, conn *HeartbeatConn, address string, report func(string)) error {
	return defaultTiming().send(ctx, conn, address, report)
}

func (r heartbeatTiming) send(ctx context.Context, conn *HeartbeatConn, address string, report func(string)) error {
	defer func() { _ = conn.Close() }() // the last connection
	for {
		if err := conn.Send(); err != nil {
			report(fmt.Sprintf("the heartbeat to %s was cut: %v", address, err))
			renewed, err := r.redial(ctx, address, conn.key)
			if ctx.Err() != nil {
				return nil
			}
			if err != nil {
				return fmt.Errorf("%w: no connection to %s for %s: %w", ErrLauncherLost, address, r.patience, err)
			}
			_ = conn.Close()
			started := conn.Report().Started
			if conn = renewed; !conn.Report().Started.Equal(started) {
				return fmt.Errorf("%w: the one at %s was started anew at %s", ErrLauncherLost, address,
					conn.Report().Started.UTC().Format(time.RFC3339))
			}
			report(fmt.Sprintf("the heartbeat to %s is back", address))
		}
		if bounded.Pause(ctx, r.interval) != nil {
			return nil
		}
	}
}

func (r heartbeatTiming) redial(ctx context.Context, address string, key credential.Key) (*HeartbeatConn, error) {
	limited, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	for {
		conn, err := DialHeartbeat(limited, address, key)
		if err == nil {
			return conn, nil
		}
		if bounded.Pause(limited, r.pause) != nil {
			return nil, err
		}
	}
}
