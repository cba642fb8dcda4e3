package datapath

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// injector sends single frames unchanged, through a packet socket of its own.
type injector struct {
	device    *device
	socket    int // -1 while it isn't open
	counter   *trafficCounter
	observers *captures
}

func (i *injector) Inject(frames [][]byte, gap time.Duration) error {
	for n, f := range frames {
		if n > 0 && gap > 0 {
			sleep(gap)
		}
		if err := i.emit(f); err != nil {
			return fmt.Errorf("inject frame %d of %d on %s: %w", n+1, len(frames), i.device.name,
				i.device.explain(err, len(f)))
		}
		i.counter.add(1, wireLength(len(f)))
		i.observers.offer(Frame{Time: Now(), Sent: true, Bytes: append([]byte(nil), f...)})
	}
	return nil
}

// emit sends one frame, padded to Ethernet's smallest.
func (i *injector) emit(frame []byte) error {
	if len(frame) < 60 {
		frame = append(append(make([]byte, 0, 60), frame...), make([]byte, 60-len(frame))...)
	}
	for {
		if _, err := unix.Write(i.socket, frame); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func (i *injector) close() error {
	if i.socket < 0 {
		return nil
	}
	return unix.Close(i.socket)
}
