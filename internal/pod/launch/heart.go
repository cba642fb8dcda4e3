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

	"github.com/linerate-dev/linerate/internal/host/credential"
)

// The heartbeat's protocol is lines of text over TCP, on a port of its own:
//
//	launcher ─▶ runner   one line: the Report as JSON
//	runner ─▶ launcher   "beat", once a second; every line counts, whatever it says
//
// The listener has the runner prove the attempt's key first (package credential): who else could beat could keep traffic alive whose runner is dead.
const (
	// HeartbeatPort is the launcher's TCP port for it.
	HeartbeatPort = 4502

	longestBeat    = 256              // bytes in a line
	mostHearts     = 16               // connections at a time
	idleConnection = time.Minute      // after which one without a beat is closed
	helloTimeout   = 10 * time.Second // for the first line to be taken
)

// Listen answers on l until ctx ends, sends hello to each who connects, and calls beat for each line. It returns when all connections are closed.
func Listen(ctx context.Context, l net.Listener, hello Report, beat func()) error {
	line, err := json.Marshal(hello)
	if err != nil {
		return fmt.Errorf("heartbeat: %w", err)
	}
	var hearts sync.WaitGroup
	defer hearts.Wait()
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	places := make(chan struct{}, mostHearts)
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
				listenTo(ctx, conn, append(line, '\n'), beat)
			})
		default:
			_ = conn.Close()
		}
	}
}

func listenTo(ctx context.Context, conn net.Conn, hello []byte, beat func()) {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	defer func() { _ = conn.Close() }()
	if conn.SetWriteDeadline(time.Now().Add(helloTimeout)) != nil {
		return
	}
	if _, err := conn.Write(hello); err != nil {
		return
	}
	lines := bufio.NewReaderSize(conn, longestBeat)
	for {
		if conn.SetReadDeadline(time.Now().Add(idleConnection)) != nil {
			return
		}
		if _, err := lines.ReadSlice('\n'); err != nil {
			return
		}
		beat()
	}
}

// Heart is the runner's end of the heartbeat.
type Heart struct {
	conn   net.Conn
	key    credential.Key
	report Report
}

// longestReport bounds the launcher's first line.
const longestReport = 1 << 20

// Connect reaches a launcher, proves the key to it, and reads its Report.
func Connect(ctx context.Context, address string, key credential.Key) (*Heart, error) {
	conn, err := key.Dial(ctx, credential.Heartbeat, address)
	if err != nil {
		return nil, fmt.Errorf("heartbeat: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	line, err := bufio.NewReaderSize(conn, longestReport).ReadSlice('\n')
	h := &Heart{conn: conn, key: key}
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
func (h *Heart) Report() Report { return h.report }

// Beat sends one beat. An error means that the launcher doesn't hear us: reconnect.
func (h *Heart) Beat() error {
	if err := h.conn.SetWriteDeadline(time.Now().Add(helloTimeout)); err != nil {
		return fmt.Errorf("beat: %w", err)
	}
	if _, err := h.conn.Write([]byte("beat\n")); err != nil {
		return fmt.Errorf("beat: %w", err)
	}
	return nil
}

// Close ends the connection, which is not yet silence.
func (h *Heart) Close() error { return h.conn.Close() }
