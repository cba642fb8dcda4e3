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

// Start starts a device on interfaces of a namespace, which are up. It forwards when Start returns, and until
// it is closed or this process ends.
//
// The device's process is in the namespace only if frames cost it work. Then it loses what comes while it waits for a
// processor, and an observer of the processes that carry frames should see those waits. Without work its waits cost
// nothing, and must not excuse what the impairment lost. So the process is where the test is, and only its sockets
// are in the namespace.
func Start(ns *netif.Namespace, s Spec) (_ *Device, err error) {
	if err := s.Check(); err != nil {
		return nil, fmt.Errorf("impaired device: %w", err)
	}
	d := &Device{command: exec.Command("/proc/self/exe"), talk: &bytes.Buffer{}}
	d.command.Env = append(os.Environ(), deviceVariable+"=1")
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
	stdout, err := d.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	d.answers = json.NewDecoder(stdout)
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

// Counts are what became of the frames that entered each port since the device was started, in the Spec's order.
// Counts waits for a second at most until nothing is inside. Frames that come meanwhile may be counted or not.
func (d *Device) Counts() ([2]Counts, error) {
	a, err := d.ask("counts")
	return a.Counts, err
}

// Residence are the residence times of the frames that entered a port, by their frame size in bytes, with the check
// sequence.
type Residence map[int]transit.Histogram

// Residences are the residence times of both ports, of a device that records. A frame's residence lasts from when the
// device's kernel had received it until the kernel gave it to the other port's driver, by the kernel's own stamps. It
// is an error if some frames' residence isn't known.
func (d *Device) Residences() (residences [2]Residence, err error) {
	a, err := d.ask("held")
	if err != nil {
		return residences, err
	}
	for i, sizes := range a.Residences {
		if sizes == nil || a.Unstamped[i] > 0 {
			return residences, fmt.Errorf("the impaired device: for how long %d frames stayed inside isn't known "+
				"(records: %v)", a.Unstamped[i], sizes != nil)
		}
		residences[i] = Residence{}
		for bytes, buckets := range sizes {
			var histogram transit.Histogram
			for bucket, frames := range buckets {
				histogram.Add(bucket, frames)
			}
			residences[i][bytes+units.FCSBytes] = histogram
		}
	}
	return residences, nil
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
