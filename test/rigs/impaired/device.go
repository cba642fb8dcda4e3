package impaired

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/transit"
)

// Device is a device that forwards, in a process of its own. Its methods are safe for concurrent use.
type Device struct {
	command *exec.Cmd
	life    io.WriteCloser
	answers *json.Decoder
	talk    *bytes.Buffer
	mutex   sync.Mutex // a question at a time
}

// Start starts a device on interfaces of a namespace, which are up. It forwards when Start returns, and until it is closed or this process ends.
//
// Its process is in the namespace only if frames cost it work: then it loses what comes while it waits for a processor, and who looks who carries frames should see
// that. Without work its waits cost nothing, and so must not excuse what the impairment lost: the process is where the test is, and only its sockets are in the namespace.
func Start(ns *netif.Namespace, s Spec) (_ *Device, err error) {
	if err := s.Check(); err != nil {
		return nil, fmt.Errorf("impaired device: %w", err)
	}
	d := &Device{command: exec.Command("/proc/self/exe"), talk: &bytes.Buffer{}}
	d.command.Env = append(os.Environ(), asked+"=1")
	d.command.Stderr = d.talk
	copied, err := unix.FcntlInt(uintptr(ns.Fd()), unix.F_DUPFD_CLOEXEC, 0) // the descriptor stays the Namespace's own
	if err != nil {
		return nil, fmt.Errorf("hold the namespace: %w", err)
	}
	namespace := os.NewFile(uintptr(copied), "namespace")
	defer func() { _ = namespace.Close() }()
	d.command.ExtraFiles = []*os.File{namespace}                // its namespaceFile
	d.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a terminal's interrupt is the test's to handle
	if d.life, err = d.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := d.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	d.answers = json.NewDecoder(out)
	start := d.command.Start
	if s.works() {
		start = func() error { return ns.Do(d.command.Start) }
	}
	if err := start(); err != nil {
		return nil, fmt.Errorf("start the impaired device: %w", err)
	}
	if _, err := d.ask(s); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Counts are what became of the frames that entered each port since the device was started, by the Spec's order. It waits for a second at most until nothing is
// inside; what comes while it is asked may be counted or not.
func (d *Device) Counts() ([2]Counts, error) {
	a, err := d.ask("counts")
	return a.Counts, err
}

// Held is for how long the frames that entered a port stayed inside, by their frame size in bytes, with the check sequence.
type Held map[int]transit.Histogram

// Held is that of each port, of a device that records: from when its kernel had received a frame until it gave it to the other port's driver, by the kernel's own stamps. An error: it isn't known of some frames.
func (d *Device) Held() (held [2]Held, err error) {
	a, err := d.ask("held")
	if err != nil {
		return held, err
	}
	for i, sizes := range a.Held {
		if sizes == nil || a.Without[i] > 0 {
			return held, fmt.Errorf("the impaired device: for how long %d frames stayed inside isn't known (records: %v)", a.Without[i], sizes != nil)
		}
		held[i] = Held{}
		for bytes, buckets := range sizes {
			var of transit.Histogram
			for bucket, frames := range buckets {
				of.Add(bucket, frames)
			}
			held[i][bytes+units.FCSBytes] = of
		}
	}
	return held, nil
}

func (d *Device) ask(question any) (a answer, err error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if err := json.NewEncoder(d.life).Encode(question); err != nil {
		return a, fmt.Errorf("ask the impaired device: %w; it said: %s", err, d.talk)
	}
	if err := d.answers.Decode(&a); err != nil {
		return a, fmt.Errorf("the impaired device ended: %w; it said: %s", err, d.talk)
	}
	if a.Error != "" {
		return a, errors.New("the impaired device: " + a.Error)
	}
	return a, nil
}

// Close ends the device.
func (d *Device) Close() error {
	return errors.Join(d.life.Close(), d.command.Wait())
}
